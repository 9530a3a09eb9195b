// A partition in memory under the consumer of kafkajs: its own classes fetch, call, resolve and try again. No Kafka runs here.
import { createRequire } from "node:module";
import type { EachBatchPayload, EachMessagePayload, KafkaMessage, Logger } from "kafkajs";
import { type ConsumerOptions, kafkaEachBatch, kafkaEachMessage } from "onceonly/consumers";
import { afterwards, type Bench, freshName, type Handle, type Options } from "./given.ts";

interface RunnerOptions {
  readonly eachMessage?: (payload: EachMessagePayload) => Promise<void>;
  readonly eachBatch?: (payload: EachBatchPayload) => Promise<void>;
  readonly eachBatchAutoResolve?: boolean;
}
interface Runner {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const load = createRequire(import.meta.url);
const folder = load.resolve("kafkajs").replace(/index\.js$/, "src/consumer/");
const KafkaRunner = load(`${folder}runner.js`) as new (options: object) => Runner;
const Batch = load(`${folder}batch.js`) as new (topic: string, offset: string, data: object) => object;

const silent = { namespace: () => silent, ...of(["debug", "info", "warn", "error"]) } as unknown as Logger;
function of(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, () => {}]));
}

type Each = "eachMessage" | "eachBatch";

/** The state of the partition is that of a broker: offsets that a consumer has not committed are delivered again. */
export function kafkaBench(each: Each = "eachMessage") {
  const topic = freshName();
  const messages: KafkaMessage[] = [];
  const aside: unknown[] = [];
  let committed = 0;
  let heartbeats = 0;

  function groupOf(isCut: () => boolean) {
    let resolved = committed;
    const commit = async () => {
      if (isCut()) throw new Error("the connection is lost");
      committed = Math.max(committed, resolved);
    };
    return {
      groupId: "shop",
      memberId: "one",
      connect: async () => {},
      joinAndSync: async () => {
        resolved = committed;
      },
      leave: async () => {},
      getNodeIds: () => ["1"],
      heartbeat: async () => {
        heartbeats++;
      },
      hasSeekOffset: () => false,
      isPaused: () => false,
      resolveOffset: ({ offset }: { offset: string }) => {
        resolved = Number(offset) + 1;
      },
      commitOffsets: commit,
      commitOffsetsIfNecessary: commit,
      uncommittedOffsets: () => ({}),
      async fetch() {
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (isCut()) return [];
        const highWatermark = `${messages.length}`;
        const data = {
          partition: 0,
          highWatermark,
          messages: messages.slice(resolved),
          abortedTransactions: [],
        };
        return resolved < messages.length ? [new Batch(topic, `${resolved}`, data)] : [];
      },
    };
  }

  async function consume(handle: Handle, options: Options) {
    let isCut = false;
    const given = {
      whenFinalError: (message: EachMessagePayload) => void aside.push(message),
      ...options,
    } as ConsumerOptions<EachMessagePayload, never>;
    const handler = (
      { message }: EachMessagePayload,
      { idempotency }: { idempotency: Parameters<Handle>[1] },
    ) => handle(`${message.value}`, idempotency);
    const run: RunnerOptions =
      each === "eachMessage"
        ? { eachMessage: kafkaEachMessage(handler, given) }
        : kafkaEachBatch(handler, given);
    const runner = new KafkaRunner({
      ...run,
      logger: silent,
      consumerGroup: groupOf(() => isCut),
      instrumentationEmitter: { emit: () => {} },
      concurrency: 1,
      heartbeatInterval: 0,
      retry: { retries: 1000, initialRetryTime: 1, maxRetryTime: 5 },
      onCrash: () => {},
    });
    await runner.start();
    afterwards(() => runner.stop());
    return {
      cut: () => {
        isCut = true;
      },
      stop: () => runner.stop(),
    };
  }

  const bench: Bench = {
    async send(text, headers = {}) {
      const offset = `${messages.length}`;
      const bytes = Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]);
      messages.push({
        key: null,
        value: Buffer.from(text),
        timestamp: "1700000000000",
        attributes: 0,
        offset,
        headers: Object.fromEntries(bytes),
      });
    },
    consume,
    left: async () => messages.length - committed,
    aside: async () => aside.length,
  };
  return { ...bench, topic, messages, heartbeats: () => heartbeats, committed: () => committed };
}
