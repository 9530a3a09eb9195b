/** A message as a queue keeps it. Times are epoch ms. Only the queue changes a message. */

/** An attribute as in the API. The data type `Binary` uses `BinaryValue`, the other types `StringValue`. */
export interface MessageAttribute {
  readonly DataType?: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: Uint8Array | undefined;
}

export type SqsMessageAttributes = Readonly<Record<string, MessageAttribute>>;

export interface QueuedMessage {
  readonly id: string;
  readonly body: string;
  readonly attributes: SqsMessageAttributes;
  readonly traceHeader?: string | undefined;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  readonly sequenceNumber?: string | undefined;
  /** The source queue of a message in a dead-letter queue. */
  readonly deadLetterSourceArn?: string | undefined;
  /** Retention counts from this time. */
  readonly sentAt: number;
  /** Receives in this queue; for a message in a dead-letter queue, those in the source queue too. */
  receiveCount: number;
  /** Receives in this queue only, which `maxReceiveCount` limits. */
  receivesHere: number;
  firstReceivedAt?: number;
  lastReceivedAt?: number;
  /** The message is delayed or in flight until this time. */
  visibleAt: number;
}

export function isVisible(message: QueuedMessage, now: number): boolean {
  return message.visibleAt <= now;
}

/** The message was received, and neither deleted nor visible again. */
export function isInFlight(message: QueuedMessage, now: number): boolean {
  return message.receivesHere > 0 && !isVisible(message, now);
}

export function isDelayed(message: QueuedMessage, now: number): boolean {
  return message.receivesHere === 0 && !isVisible(message, now);
}

/** A copy, so neither the caller nor the queue sees the other's later changes. */
export function copyOfAttributes(attributes: SqsMessageAttributes): SqsMessageAttributes {
  const copies: Record<string, MessageAttribute> = {};
  for (const [name, { DataType, StringValue, BinaryValue }] of Object.entries(attributes)) {
    copies[name] =
      BinaryValue === undefined
        ? { DataType, StringValue }
        : { DataType, BinaryValue: new Uint8Array(BinaryValue) };
  }
  return copies;
}
