/** Consumers of RabbitMQ by `amqplib`: a message is acknowledged after its record. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkMethods } from "../core/option-checks.ts";
import type { Delivery } from "./delivery.ts";
import { idempotentConsumer, type MessageHandler } from "./idempotent-consumer.ts";
import type { ConsumerOptions } from "./options.ts";

/** What this consumer uses of a `ConsumeMessage` of amqplib. */
export interface RabbitMqMessageLike {
  readonly content: Uint8Array;
  readonly fields: { readonly deliveryTag: number; readonly redelivered: boolean };
  readonly properties: { readonly headers?: Readonly<Record<string, unknown>> | undefined };
}

/** What this consumer uses of a channel of amqplib. */
export interface RabbitMqChannelLike<Message> {
  ack(message: Message): unknown;
  nack(message: Message, allUpTo: boolean, requeue: boolean): unknown;
}

export interface RabbitMqOptions<Message = RabbitMqMessageLike, Write = unknown>
  extends Omit<ConsumerOptions<Message, Write>, "whenKeyMissing"> {
  /** A message of RabbitMQ has no place of its own: its key is in the envelope, or in what `key` reads. */
  readonly whenKeyMissing?: "reject";
  /**
   * Is called when the server ends the consumption, such as with its queue. No message comes then.
   * @default - `console.error`
   */
  readonly onCancel?: () => void;
}

/**
 * `channel.consume(queue, rabbitMqConsumer(channel, handler, options))`: each message runs once per operation, scope and key, and
 * is acknowledged after the commit. One that has to come again is requeued after a pause, one that never succeeds goes to the
 * dead-letter exchange of its queue. **Without such an exchange RabbitMQ drops that message.** If the channel is closed before
 * the acknowledgement, the message comes again and is a replay. Not for `noAck: true`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The consumer itself never rejects: `onMessageError` is told.
 */
export function rabbitMqConsumer<Message extends RabbitMqMessageLike = RabbitMqMessageLike, Write = unknown>(
  channel: RabbitMqChannelLike<Message>,
  handler: MessageHandler<Message, Write>,
  options: RabbitMqOptions<Message, Write>,
): (message: Message | null) => Promise<void> {
  checkMethods("channel", channel, ["ack", "nack"], "give the channel first");
  const { onCancel = logCancel(Object(options).operation), ...given } = Object(options) as typeof options;
  if (typeof onCancel !== "function")
    throw new InvalidOptionError("onCancel", "must be a function", onCancel);
  if ((given.whenKeyMissing as string) === "position")
    throw new InvalidOptionError("whenKeyMissing", 'must be "reject": a message of RabbitMQ has no place');
  const consume = idempotentConsumer(handler, given as ConsumerOptions<Message, Write>, deliveryOf);
  const { clock = systemClock } = given;
  return async function idempotentDelivery(message) {
    if (message === null) return onCancel();
    const ended = await consume(message);
    // Meanwhile the message is not acknowledged, and counts for the prefetch.
    if (ended.end === "retry") await clock.sleep(ended.afterMs, undefined, "background");
    try {
      if (ended.end === "done") channel.ack(message);
      else channel.nack(message, false, ended.end === "retry");
    } catch {
      // The channel is closed, so that the server delivers the message again.
    }
  };
}

const logCancel = (operation: unknown) => () =>
  console.error(`onceonly: the server has cancelled the consumer of operation "${operation}"`);

/** Only quorum queues count deliveries, from 0. */
function deliveryOf({ content, fields, properties }: RabbitMqMessageLike): Delivery {
  const headers = properties.headers ?? {};
  const redeliveries = Number(headers["x-delivery-count"] ?? (fields.redelivered ? 1 : 0));
  return {
    name: `delivery ${fields.deliveryTag}`,
    content,
    envelope: headers[ENVELOPE_ATTRIBUTE],
    deliveries: redeliveries + 1,
  };
}
