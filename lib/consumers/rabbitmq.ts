/** RabbitMQ consumers with `amqplib`: a message is acknowledged after its record. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkMethods } from "../core/option-checks.ts";
import type { Delivery } from "./delivery.ts";
import { idempotentConsumer, type MessageHandler } from "./idempotent-consumer.ts";
import type { ConsumerOptions } from "./options.ts";

/** The part of amqplib's `ConsumeMessage` that this consumer uses. */
export interface RabbitMqMessageLike {
  readonly content: Uint8Array;
  readonly fields: { readonly deliveryTag: number; readonly redelivered: boolean };
  readonly properties: { readonly headers?: Readonly<Record<string, unknown>> | undefined };
}

/** The part of an amqplib channel that this consumer uses. */
export interface RabbitMqChannelLike<Message> {
  ack(message: Message): unknown;
  nack(message: Message, allUpTo: boolean, requeue: boolean): unknown;
}

export interface RabbitMqOptions<Message = RabbitMqMessageLike, Write = unknown>
  extends Omit<ConsumerOptions<Message, Write>, "whenKeyMissing"> {
  /** A RabbitMQ message has no position: its key is in the envelope, or returned by `key`. */
  readonly whenKeyMissing?: "reject";
  /**
   * Publishes a message that must come again to another queue, where it waits until it returns: see
   * docs/reference/consumers.md for an example. Resolve when the broker has confirmed it. The message is then acknowledged
   * here, and no longer counts for the prefetch. `deliveries` counts from 1. Resolve to `false` to give the message up: it
   * goes to the dead-letter exchange. If the function fails, the message waits here.
   * @default - the message waits here, unacknowledged, so failing messages, up to the prefetch limit, can block good ones
   */
  readonly delay?: (message: Message, deliveries: number) => unknown;
  /**
   * Called when the server cancels the consumer, for example because its queue was deleted. No more messages arrive then.
   * @default - `console.error`
   */
  readonly onCancel?: () => void;
}

/**
 * `channel.consume(queue, rabbitMqConsumer(channel, handler, options))`: each message runs once per operation, scope and key,
 * and is acknowledged after the commit. A message that must come again is requeued after a pause, and one that never succeeds
 * goes to its queue's dead-letter exchange. **Without such an exchange RabbitMQ drops that message.** If the channel is closed
 * before the acknowledgement, the message comes again and is a replay. Not for `noAck: true`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. The consumer itself never rejects: it calls `onMessageError`.
 */
export function rabbitMqConsumer<Message extends RabbitMqMessageLike = RabbitMqMessageLike, Write = unknown>(
  channel: RabbitMqChannelLike<Message>,
  handler: MessageHandler<Message, Write>,
  options: RabbitMqOptions<Message, Write>,
): (message: Message | null) => Promise<void> {
  checkMethods("channel", channel, ["ack", "nack"], "an amqplib channel, passed as the first argument");
  const {
    onCancel = logCancel(Object(options).operation),
    delay,
    ...given
  } = Object(options) as typeof options;
  if (delay !== undefined && typeof delay !== "function")
    throw new InvalidOptionError("delay", "must be a function", delay);
  if (typeof onCancel !== "function")
    throw new InvalidOptionError("onCancel", "must be a function", onCancel);
  if ((given.whenKeyMissing as string) === "position")
    throw new InvalidOptionError(
      "whenKeyMissing",
      'must be "reject", because a RabbitMQ message has no position',
    );
  const consume = idempotentConsumer(handler, given as ConsumerOptions<Message, Write>, deliveryOf);
  const { clock = systemClock } = given;

  async function again(message: Message, afterMs: number): Promise<"done" | "retry" | "final"> {
    try {
      if (delay) return (await delay(message, deliveryOf(message).deliveries)) === false ? "final" : "done";
    } catch (error) {
      console.error(
        `onceonly: delaying a message of operation "${given.operation}" failed, so this process waits before it retries:`,
        error,
      );
    }
    // Until then the message isn't acknowledged, and counts for the prefetch.
    await clock.sleep(afterMs, undefined, "background");
    return "retry";
  }

  return async function idempotentDelivery(message) {
    if (message === null) return onCancel();
    const ended = await consume(message);
    const end = ended.end === "retry" ? await again(message, ended.afterMs) : ended.end;
    try {
      if (end === "done") channel.ack(message);
      else channel.nack(message, false, end === "retry");
    } catch {
      // The channel is closed, so the server delivers the message again.
    }
  };
}

const logCancel = (operation: unknown) => () =>
  console.error(`onceonly: the server cancelled the consumer of operation "${operation}"`);

/** How often the message has expired in a waiting queue and come back. */
function expiriesOf(deaths: unknown): number {
  const counts = Array.isArray(deaths) ? deaths.filter((death) => Object(death).reason === "expired") : [];
  return counts.reduce((sum, { count }) => sum + (Number(count) || 0), 0);
}

/** Only quorum queues count deliveries, from 0. */
function deliveryOf({ content, fields, properties }: RabbitMqMessageLike): Delivery & { deliveries: number } {
  const headers = properties.headers ?? {};
  const own = Number(headers["x-delivery-count"] ?? (fields.redelivered ? 1 : 0));
  const redeliveries = own + expiriesOf(headers["x-death"]);
  return {
    name: `delivery ${fields.deliveryTag}`,
    content,
    envelope: headers[ENVELOPE_ATTRIBUTE],
    deliveries: redeliveries + 1,
  };
}
