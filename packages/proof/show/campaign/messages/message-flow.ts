// From commit to consumer: the table's stream feeds the relay, a timer the sweeper, and each queue its consumer. All of them
// run on the hosts, whose processes are killed and stopped.
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../../../lib/core/clock.ts";
import { until } from "../../../../../test/kit/time/until.ts";
import type { SourceSwitch } from "../../../../local/lib/event-sources/event-source.ts";
import { startSqsSource } from "../../../../local/lib/event-sources/sqs-source.ts";
import { startStreamSource } from "../../../../local/lib/event-sources/stream-source.ts";
import {
  answered,
  crashed,
  type InvokeResult,
  reportedError,
  timedOut,
} from "../../../../local/lib/lambda/invoke-result.ts";
import { startSqs } from "../../../../local/lib/sqs/start-sqs.ts";
import type { SeededRandom } from "../../demo/random.ts";
import type { Host } from "../host.ts";
import type { Tables } from "../tables.ts";
import type { Tally } from "../tally.ts";
import { MESSAGE_QUEUES } from "./message-queues.ts";

export interface MessageFlowOptions {
  readonly endpoint: string;
  readonly tables: Tables;
  /** May be filled later. */
  readonly hosts: readonly Host[];
  readonly random: SeededRandom;
  readonly faults: Tally;
  readonly nextId: () => number;
}

export interface MessageFlow {
  /** The queues themselves, past their proxy. */
  readonly endpoint: string;
  readonly queueUrls: Readonly<Record<string, string>>;
  /** While it is not calm, consumers fail and the stream loses records. */
  isCalm: boolean;
  /** Resolves to the remaining messages when nothing moves any more or the time is over; to an empty result if all is done. */
  settle(seconds: number, signal: AbortSignal): Promise<string | undefined>;
  begin(): void;
  /** Starts nothing any more. */
  end(): void;
  stop(): Promise<void>;
}

const VISIBILITY_SECONDS = 4;
const INVOCATION_MS = 2500;
const CALM_INVOCATION_MS = 20_000;
const SWEEP_EVERY_MS = 2000;
/** The share of the stream's records that the relay never gets. */
const LOST_SHARE = 0.1;

export async function startMessageFlow(options: MessageFlowOptions): Promise<MessageFlow> {
  const { endpoint, tables, hosts, random, faults, nextId } = options;
  const sqs = await startSqs();
  const ending = new AbortController();
  const sources: SourceSwitch[] = [];
  const queues = await Promise.all(
    MESSAGE_QUEUES.map(async ({ name, isFifo }) => {
      const Attributes = {
        VisibilityTimeout: String(VISIBILITY_SECONDS),
        ...(isFifo && { FifoQueue: "true" }),
      };
      const queueName = isFifo ? `${name}.fifo` : name;
      const { QueueUrl: url } = await sqs.model.call("CreateQueue", { QueueName: queueName, Attributes });
      return { name, url, queueName, arn: `arn:aws:sqs:us-east-1:000000000000:${queueName}` };
    }),
  );

  async function invoke(name: string, payload: string): Promise<InvokeResult> {
    const id = nextId();
    const host = random.pick(hosts as [Host, ...Host[]]);
    const event: unknown = JSON.parse(payload);
    const remainingMs = flow.isCalm ? CALM_INVOCATION_MS : INVOCATION_MS;
    const invocation = { id, function: name, event, remainingMs, isCalm: flow.isCalm };
    const asking = host.ask(id, { invocation }, () => {});
    // Lambda would end the process. Here it goes on, and finishes late.
    const last = await Promise.race([asking, sleep(remainingMs).then(() => "late" as const)]);
    if (last === "late") return timedOut(`${id}`, remainingMs);
    if (last === undefined) return crashed(`${id}`, "killed");
    if ("result" in last) return answered(`${id}`, last.result);
    return reportedError(`${id}`, JSON.stringify({ errorMessage: "error" in last ? last.error : "" }));
  }

  async function sweepNowAndThen(): Promise<void> {
    while (!ending.signal.aborted) {
      await sleep(SWEEP_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      if (!ending.signal.aborted) await invoke("sweeper", "{}");
    }
  }

  const messagesLeft = () => queues.reduce((sum, { url }) => sum + sqs.model.backlog(url).messages, 0);
  const source = { clock: systemClock, log: () => {}, region: "us-east-1" };
  const flow: MessageFlow = {
    endpoint: sqs.endpoint,
    queueUrls: Object.fromEntries(queues.map(({ name, url }) => [name, url])),
    isCalm: true,
    async settle(seconds, signal) {
      const isDone = await until(
        async () => messagesLeft() === 0 && (await tables.unsent()) === 0 && messagesLeft() === 0,
        { seconds, signal },
      );
      if (isDone) return undefined;
      return `${await tables.unsent()} commits are not sent, ${messagesLeft()} messages are in the queues`;
    },
    begin() {
      void startStreamSource({
        ...source,
        label: "stream",
        invoke: (payload) => invoke("relay", payload),
        endpoint,
        streamArn: tables.streamArn,
        enabled: true,
        startingPosition: "TRIM_HORIZON",
        batchSize: 20,
        batchingWindowSeconds: 0,
        maxRetryAttempts: -1,
        maxRecordAgeSeconds: -1,
        bisects: false,
        reportsItemFailures: true,
        passes: () => {
          if (flow.isCalm || random.fraction() >= LOST_SHARE) return true;
          faults.add("lost by the stream");
          return false;
        },
        onFailure: async () => {},
      }).then((stream) => sources.push(stream));
      for (const queue of queues) {
        sources.push(
          startSqsSource({
            ...source,
            label: queue.name,
            invoke: (payload) => invoke(queue.name, payload),
            model: sqs.model,
            queue,
            enabled: true,
            batchSize: 5,
            batchingWindowSeconds: 0,
            maxConcurrency: 3,
            reportsItemFailures: true,
            passes: () => true,
          }),
        );
      }
      void sweepNowAndThen();
    },
    end() {
      ending.abort();
      for (const each of sources) each.disable();
    },
    stop: () => sqs.stop(),
  };
  return flow;
}
