// One contestant under one kind of faults: its tables and environments, and its result so far.
import type { SQSRecord } from "aws-lambda";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import type { BatchSetup, DeployBatch } from "../contestants/batch-function.ts";
import type { Meter, Tally } from "../metering/meter.ts";
import { median } from "../timing/median.ts";
import { Consumer } from "./consumer.ts";
import { countEffects, type Effects } from "./effects.ts";
import { ExecutionEnvironment } from "./execution-environment.ts";
import type { FaultPlan } from "./faults.ts";
import { orderIdOf } from "./message-stream.ts";
import type { SkippableTime } from "./skippable-time.ts";

export interface TrialResult extends Tally, Effects {
  readonly deliveries: number;
  readonly crashes: number;
  readonly lostAnswers: number;
  /** The duration of each section of the stream, in ms. */
  readonly sectionMs: readonly number[];
  /** How long an invocation lasted: the median. */
  readonly batchMs: number;
}

export interface TrialSetup {
  readonly endpoint: string;
  readonly meter: Meter;
  readonly time: SkippableTime;
  readonly partitionKey: string;
  readonly concurrency: number;
  readonly deploy: DeployBatch;
  readonly faultOf: FaultPlan;
  /** Messages of a batch. @default 10 */
  readonly size?: number | undefined;
  /** What each handler waits for before it writes its effect. */
  readonly work?: BatchSetup["work"];
}

export class Trial {
  readonly #meter: Meter;
  readonly #consumer: Consumer;
  readonly #endpoint: string;
  readonly #effectsTable: string;
  readonly #spent = { requests: 0, writeUnits: 0, readUnits: 0 };
  readonly #sectionMs: number[] = [];
  readonly #environments: ExecutionEnvironment[] = [];
  #lostAnswers = 0;

  static async create(setup: TrialSetup): Promise<Trial> {
    const client = connect(setup.endpoint);
    const recordsTable = await createTable(client, setup.partitionKey);
    const effectsTable = await createTable(client, "id");
    client.destroy();
    return new Trial(setup, recordsTable, effectsTable);
  }

  constructor(
    { endpoint, meter, time, concurrency, deploy, faultOf, size, work }: TrialSetup,
    recordsTable: string,
    effectsTable: string,
  ) {
    this.#meter = meter;
    this.#endpoint = endpoint;
    this.#effectsTable = effectsTable;
    const onLostAnswer = () => {
      this.#lostAnswers++;
    };
    const start = () => {
      const environment = new ExecutionEnvironment({
        endpoint,
        meter,
        time,
        effectsTable,
        faultOf,
        onLostAnswer,
      });
      this.#environments.push(environment);
      const { client, lean } = environment;
      return { environment, invoke: deploy({ client, lean, recordsTable, effectsTable, work }) };
    };
    this.#consumer = new Consumer(concurrency, start, size);
  }

  async consume(section: readonly SQSRecord[], awaitVisibility: () => void): Promise<void> {
    const startedAt = performance.now();
    const spent = await this.#meter.during(() => this.#consumer.consume(section, awaitVisibility));
    this.#sectionMs.push(performance.now() - startedAt);
    for (const name of ["requests", "writeUnits", "readUnits"] as const) this.#spent[name] += spent[name];
  }

  /** @param stream all that was consumed */
  async end(stream: readonly SQSRecord[]): Promise<TrialResult> {
    for (const { client, lean } of this.#environments) for (const each of [client, lean]) each.destroy();
    const client = connect(this.#endpoint);
    const effects = await countEffects(client, this.#effectsTable, new Set(stream.map(orderIdOf)));
    client.destroy();
    const { deliveries, crashes, invocationMs } = this.#consumer;
    return {
      ...this.#spent,
      ...effects,
      deliveries,
      crashes,
      lostAnswers: this.#lostAnswers,
      sectionMs: this.#sectionMs,
      batchMs: median(invocationMs),
    };
  }
}
