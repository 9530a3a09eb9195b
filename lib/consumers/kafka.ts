/** `kafkajs` consumers: an offset is resolved, and so committed, after the record. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { systemClock } from "../core/clock.ts";
import type { Delivery } from "./delivery.ts";
import { idempotentConsumer, type MessageHandler } from "./idempotent-consumer.ts";
import type { ConsumerOptions } from "./options.ts";
import { withPulse } from "./pulse.ts";

/** The part of kafkajs' `EachMessagePayload` that this consumer uses. */
export interface KafkaMessageLike {
  readonly topic: string;
  readonly partition: number;
  readonly message: {
    readonly offset: string;
    readonly timestamp: string;
    readonly value: Uint8Array | null;
    readonly headers?: Readonly<Record<string, unknown>>;
  };
  heartbeat(): Promise<void>;
}

/** The part of kafkajs' `EachBatchPayload` that this consumer uses. */
export interface KafkaBatchLike<Message extends KafkaMessageLike = KafkaMessageLike> {
  readonly batch: {
    readonly topic: string;
    readonly partition: number;
    readonly messages: readonly Message["message"][];
  };
  resolveOffset(offset: string): void;
  heartbeat(): Promise<void>;
  commitOffsetsIfNecessary(): Promise<void>;
  isRunning(): boolean;
  isStale(): boolean;
}

/** For `consumer.run`. Without `eachBatchAutoResolve: false`, a consumer that stops would skip the rest of its batch. */
export interface KafkaEachBatch<Payload> {
  readonly eachBatch: (payload: Payload) => Promise<void>;
  readonly eachBatchAutoResolve: false;
}

/** Every three seconds, as kafkajs does between two messages. */
const HEARTBEAT_MS = 3000;

/** How long a partition waits for another attempt before the client's own retries begin: nothing can hide its message. */
const WAIT_MS = 60_000;

/**
 * `consumer.run({ eachMessage: kafkaEachMessage(handler, options) })`: each message runs once per operation, scope and key. It
 * resolves after the commit. It rejects if the message must be delivered again, so that kafkajs retries and commits no offset.
 * It waits at most a minute for a message that another attempt is working on, and sends the group heartbeats meanwhile.
 *
 * **Not tested on a broker**, because none of Kafka's brokers runs in the test environment: only on the kafkajs 2.2 classes that
 * call it.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. For messages: an Error whose `cause` is the handler's own, or one
 * from docs/reference/errors.md.
 */
export function kafkaEachMessage<Message extends KafkaMessageLike = KafkaMessageLike, Write = unknown>(
  handler: MessageHandler<Message, Write>,
  options: ConsumerOptions<Message, Write>,
): (message: Message) => Promise<void> {
  const consume = idempotentConsumer(handler, options, deliveryOf);
  const { clock = systemClock } = options;
  return function idempotentEachMessage(message) {
    const giveUpAt = clock.now() + WAIT_MS;
    return withPulse(
      clock,
      HEARTBEAT_MS,
      () => message.heartbeat(),
      async () => {
        for (;;) {
          const ended = await consume(message);
          if (ended.end === "done") return;
          const mayWait = ended.end === "retry" && ended.isInProgress && clock.now() < giveUpAt;
          if (!mayWait) throw notDone(message, ended.error);
          await clock.sleep(ended.afterMs);
        }
      },
    );
  };
}

/**
 * kafkajs stops the consumer for good on certain error names, such as `SyntaxError`, or `retriable: false`. So it gets an error
 * with neither, whatever a handler throws.
 */
function notDone(message: KafkaMessageLike, cause: unknown): Error {
  return new Error(`${deliveryOf(message).name} failed`, { cause });
}

/**
 * `consumer.run(kafkaEachBatch(handler, options))`: like `kafkaEachMessage`, for the messages of a batch in order. Each offset
 * is resolved after its record. A consumer that stops leaves the rest of its batch.
 *
 * @throws as `kafkaEachMessage`
 */
export function kafkaEachBatch<Message extends KafkaMessageLike = KafkaMessageLike, Write = unknown>(
  handler: MessageHandler<Message, Write>,
  options: ConsumerOptions<Message, Write>,
): KafkaEachBatch<KafkaBatchLike<Message>> {
  const eachMessage = kafkaEachMessage(handler, options);
  return {
    eachBatchAutoResolve: false,
    async eachBatch(payload) {
      const { topic, partition, messages } = payload.batch;
      const heartbeat = () => payload.heartbeat();
      for (const message of messages) {
        if (!payload.isRunning() || payload.isStale()) return;
        await eachMessage({ topic, partition, message, heartbeat } as Message);
        payload.resolveOffset(message.offset);
        await heartbeat();
        await payload.commitOffsetsIfNecessary();
      }
    },
  };
}

/** The last header with a name counts, as in Kafka's own clients. A recreated topic restarts its offsets. */
function deliveryOf({ topic, partition, message }: KafkaMessageLike): Delivery {
  const { offset, timestamp, value, headers } = message;
  return {
    name: `message of ${topic}-${partition} at offset ${offset}`,
    content: value,
    envelope: [headers?.[ENVELOPE_ATTRIBUTE]].flat().at(-1),
    position: ["kafka", topic, `${partition}`, `${offset}`, `${timestamp}`],
  };
}
