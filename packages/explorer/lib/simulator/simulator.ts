/** A deterministic AWS in the memory of one process, in which Lambda handlers run unchanged. */

import type { FakeClock } from "onceonly/testing";
import type { DurableExecutions } from "../aws/durable/durable-executions.ts";
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
import type { S3Model } from "../aws/http-services/s3-model.ts";
import type { SesModel } from "../aws/http-services/ses-model.ts";
import type { SnsModel } from "../aws/sns/sns-model.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import { withCredentials } from "./credentials.ts";
import { drive } from "./drive.ts";
import { FunctionPool } from "./function-pool.ts";
import type { Service } from "./http-exchange.ts";
import type { Faults } from "./network.ts";
import { check } from "./option-rules.ts";
import { checkPatches } from "./patches/fake-timers.ts";
import { clientsPatched, installPatches } from "./patches/install.ts";
import { connectQueue } from "./queue-source.ts";
import type { SimulatedBus, SimulatedTopic } from "./room-options.ts";
import { checkBus, checkTopic } from "./room-rules.ts";
import { currentScene, within } from "./scene.ts";
import { runSchedule } from "./schedule.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { SetUp } from "./set-up.ts";
import type { LambdaHandler, SimulatedFunction } from "./simulated-function.ts";
import type {
  LambdaOptions,
  QueueConnection,
  SimulatedQueue,
  SimulatedTable,
  SimulatorOptions,
  TableConnection,
} from "./simulator-options.ts";
import { connectTable } from "./table-source.ts";
import type { TraceEvent } from "./trace-event.ts";
import { World } from "./world.ts";

const DEFAULTS = { seed: 1, startAt: 1_700_000_000_000, maxDays: 30 } as const;

/**
 * Tables, queues, topics, buses, functions and other systems in virtual time.
 *
 * Handlers run unchanged. Within `run` the simulation provides the AWS SDK's clients (DynamoDB, SQS, SNS,
 * EventBridge, SSM, Secrets Manager, S3, SES and Lambda's durable executions), `fetch`, timers, dates and randomness. The same seed gives the same run.
 */
export class Simulator {
  readonly dynamodb: DynamoDBModel;
  readonly sqs: SqsModel;
  readonly sns: SnsModel;
  readonly eventBridge: EventBridgeModel;
  readonly s3: S3Model;
  /** Accepts every email; there is nothing to configure. */
  readonly ses: SesModel;
  /** Durable executions: the SDK's checkpoints go here. Event source `durable` of `explore` starts and resumes them. */
  readonly durable: DurableExecutions;
  /** Advances by itself within `run`: there `advance` waits like `sleep`. */
  readonly clock: FakeClock;
  readonly random: SeededRandom;
  readonly #world: World;
  readonly #setUp: SetUp;
  readonly #maxDays: number;
  #starters: (() => void)[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isRunning = false;
  #functions = 0;

  /**
   * @throws InvalidOptionError (`INVALID_OPTION`) for an invalid option; the other methods throw
   * it too
   * @throws Error while a test runner's fake timers are on
   */
  constructor(options: SimulatorOptions = {}) {
    check.simulator(options);
    installPatches();
    const {
      seed = DEFAULTS.seed,
      startAt = DEFAULTS.startAt,
      ttlLagSeconds,
      latencyMs = {},
      quotas = {},
    } = options;
    const checkRunning = (what: string) => {
      if (!this.#isRunning)
        throw new Error(`the clock isn't running: invoke ${what} inside run(async () => …)`);
    };
    const onFailure = (error: unknown) => {
      this.#failure ??= { error };
    };
    this.#world = new World({ seed, startAt, ttlLagSeconds, latencyMs, quotas, checkRunning, onFailure });
    this.#maxDays = options.maxDays ?? DEFAULTS.maxDays;
    this.dynamodb = this.#world.dynamodb;
    this.sqs = this.#world.sqs;
    this.sns = this.#world.sns;
    this.eventBridge = this.#world.eventBridge;
    this.s3 = this.#world.s3;
    this.ses = this.#world.ses;
    this.durable = this.#world.durable;
    this.clock = this.#world.time;
    this.random = this.#world.random;
    this.#setUp = new SetUp(this.#world);
  }

  /**
   * Called for each I/O of a host, in order, before the request is sent. A fault that the I/O cannot have
   * (see `canHave`) ends the run with an error.
   * @default - no faults
   */
  get faults(): Faults | undefined {
    return this.#world.network.faults;
  }

  set faults(faults: Faults | undefined) {
    this.#world.network.faults = faults;
  }

  /** Creates a table, which is ready immediately. If DynamoDB rejects it, the next `run` throws. */
  table(name: string, table: SimulatedTable): void {
    check.table(name, table);
    this.#setUp.table(name, table);
  }

  /** Creates a queue, and its dead-letter queue if that doesn't exist yet. Returns its URL. */
  queue(name: string, queue: SimulatedQueue = {}): string {
    check.queue(queue);
    return this.#setUp.queue(name, queue);
  }

  /** Creates a topic with its subscriptions. Returns its ARN. */
  topic(name: string, topic: SimulatedTopic = {}): string {
    checkTopic(topic);
    return this.#setUp.topic(name, topic);
  }

  /**
   * Creates an event bus with its rules. The bus `default` exists already, and gets the rules. Returns its
   * ARN.
   */
  bus(name: string, bus: SimulatedBus = {}): string {
    checkBus(bus);
    return this.#setUp.bus(name, bus);
  }

  /** Creates an SSM parameter for functions to read. Plain and encrypted ones are the same here. */
  parameter(name: string, value: string): void {
    check.parameter(name, value);
    this.#world.ssm.set(name, value);
  }

  /** Creates a Secrets Manager secret for functions to read; an object becomes JSON. */
  secret(name: string, value: string | object): void {
    check.secret(name, value);
    this.#world.secrets.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }

  /** Creates an S3 bucket with these objects, by key. */
  bucket(name: string, objects: Readonly<Record<string, string | Uint8Array>> = {}): void {
    check.bucket(name, objects);
    this.#world.s3.bucket(name, objects);
  }

  /** Adds another system: requests to this origin, through `fetch` or `node:http`, go to `service`. */
  serve(origin: string, service: Service): void {
    this.#world.services.serve(origin, service);
  }

  /** Creates a function with this handler. All its environments share the handler module's state. */
  lambda(handler: LambdaHandler, options: LambdaOptions = {}): SimulatedFunction {
    check.lambda(handler, options);
    return this.lambdaPerEnvironment(() => handler, options);
  }

  /** Creates a function whose handler is created by the first invocation of each environment. */
  lambdaPerEnvironment(
    initialize: () => LambdaHandler | Promise<LambdaHandler>,
    options: LambdaOptions = {},
  ): SimulatedFunction {
    check.lambda(initialize, options);
    const name = options.name ?? `function-${++this.#functions}`;
    return new FunctionPool(this.#world.stage, name, options, initialize);
  }

  /** Feeds a function from a queue, while this simulator runs. */
  connectQueue(fn: SimulatedFunction, connection: QueueConnection): void {
    check.queueConnection(connection);
    this.#onRun(() => connectQueue(this.#world.stage, this.sqs, fn, connection));
  }

  /** Feeds a function from a table's stream, starting at its beginning, while this simulator runs. */
  connectTable(fn: SimulatedFunction, connection: TableConnection): void {
    check.tableConnection(connection);
    const world = this.#world;
    this.#onRun(() =>
      connectTable(world.stage, this.dynamodb, fn, connection, (listener) => world.onWrite(listener)),
    );
  }

  /** Invokes a function each `ms`, like a schedule: without waiting, and with two retries. */
  every(ms: number, fn: SimulatedFunction, event: unknown = {}): void {
    check.everyMs(ms);
    this.#onRun(() => runSchedule(this.#world.stage, ms, fn, event));
  }

  /**
   * Runs `work` in virtual time until it is settled, and returns its result. Time advances only when there is nothing
   * else to do. Unfinished activities are paused until the next `run`.
   * @throws Error if the work waits for anything but the clock, or lasts longer than `maxDays`
   */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isRunning)
      throw new Error("this simulator is already running: do it inside the work that it runs");
    if (currentScene())
      throw new Error("another simulator is already running around this one: run them separately");
    installPatches();
    within(this.#world.outside, checkPatches);
    this.#isRunning = true;
    this.#world.time.isDriven = true;
    this.#failure = undefined;
    const startAndWork = () => {
      for (const start of this.#starters.splice(0)) start();
      return work();
    };
    try {
      await clientsPatched();
      await this.#setUp.check();
      const answer = await withCredentials(() =>
        drive(this.#world, this.#maxDays, startAndWork, () => this.#failure),
      );
      await this.#setUp.check();
      return answer;
    } finally {
      this.#isRunning = false;
      this.#world.time.isDriven = false;
    }
  }

  /**
   * Resolves when no invocation runs, and the connected queues and streams are empty. Delayed and in-flight
   * messages are waited for; zombies, whose callers got a timeout, are not.
   */
  untilIdle(): Promise<void> {
    return this.#world.stage.activities.untilIdle();
  }

  /** All events so far. */
  get trace(): readonly TraceEvent[] {
    return this.#world.trace.events;
  }

  /** A line for each event: the same, byte for byte, for the same seed and the same handlers. */
  traceText(): string {
    return this.#world.trace.text();
  }

  #onRun(start: () => void): void {
    if (this.#isRunning) within(this.#world.outside, start);
    else this.#starters.push(start);
  }
}
