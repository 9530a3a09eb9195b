/**
 * Messages of Amazon MQ: a lane for each. Lambda never reads which messages failed, and delivers the whole batch again, so
 * good messages mustn't wait for a bad one. https://docs.aws.amazon.com/lambda/latest/dg/with-mq.html
 */
import { ENVELOPE_ATTRIBUTE } from "../../contract.ts";
import { IdempotencyKeyMissingError } from "../../core/errors.ts";
import { hashTuple } from "../../core/identity.ts";
import { type EnvelopeReading, readEnvelope } from "../../messaging/envelope.ts";
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";

export interface ActiveMqMessage {
  readonly messageID: string;
  /** Base64. */
  readonly data: string;
  readonly destination?: { readonly physicalName?: string };
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

export interface RabbitMqMessage {
  readonly basicProperties?: {
    readonly messageId?: string | null;
    readonly headers?: Readonly<Record<string, unknown>> | null;
  };
  /** Base64. */
  readonly data: string;
}

export interface ActiveMqEvent {
  readonly eventSourceArn?: string;
  readonly messages: readonly ActiveMqMessage[];
}

export interface RabbitMqEvent {
  readonly eventSourceArn?: string;
  /** By queue and virtual host, such as `orders::/`. */
  readonly rmqMessagesByQueue: Readonly<Record<string, readonly RabbitMqMessage[]>>;
}

export function activeMqLanes({ messages, eventSourceArn }: ActiveMqEvent, by?: Forwarders): Lane[] {
  return messages.map((message) => {
    const { messageID, data, destination, properties } = Object(message) as ActiveMqMessage;
    const id = [eventSourceArn, destination?.physicalName, messageID] as const;
    return [itemOf(message, messageID, data, readHeld(properties), id, by)];
  });
}

export function rabbitMqLanes(
  { rmqMessagesByQueue, eventSourceArn }: RabbitMqEvent,
  by?: Forwarders,
): Lane[] {
  return Object.entries(rmqMessagesByQueue).flatMap(([queue, messages]) =>
    messages.map((message, index) => {
      const { basicProperties, data } = Object(message) as RabbitMqMessage;
      const { messageId, headers } = basicProperties ?? {};
      const id = [eventSourceArn, queue, messageId ?? undefined] as const;
      return [itemOf(message, `${queue} ${index}`, data, readHeld(headers), id, by)];
    }),
  );
}

function itemOf(
  record: unknown,
  identifier: string,
  data: string,
  reading: EnvelopeReading,
  [broker = "", queue = "", messageId]: readonly [string | undefined, string | undefined, string | undefined],
  by: Forwarders | undefined,
): BatchItem {
  const message = messageOf(reading, data, Buffer.from(`${data}`, "base64").toString(), by);
  const envelopeKey = () => {
    const key = message.envelopeKey?.();
    if (key === undefined && !messageId)
      throw new IdempotencyKeyMissingError(
        "the RabbitMQ message has no `messageId`, so a redelivery can't be recognized: set `messageId` where it is published, or pass `key`",
      );
    return key;
  };
  const ownKey = hashTuple("onceonly/mq/1", broker, queue, messageId ?? "");
  return { record, identifier, ...message, envelopeKey, ownKey, isOwnKeyFallback: true };
}

/** RabbitMQ's headers arrive as bytes, ActiveMQ's properties as strings. */
function readHeld(holder: Readonly<Record<string, unknown>> | null | undefined): EnvelopeReading {
  const held = holder?.[ENVELOPE_ATTRIBUTE];
  const { bytes } = Object(held) as { readonly bytes?: unknown };
  const StringValue = Array.isArray(bytes) ? Buffer.from(bytes).toString() : held;
  return readEnvelope(held === undefined ? undefined : { [ENVELOPE_ATTRIBUTE]: { StringValue } });
}
