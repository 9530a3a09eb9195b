/** A message as a queue keeps it. Times are epoch ms; what becomes of a message is told by the queue alone. */

/** As the API has it. `BinaryValue` is for the data type `Binary`, `StringValue` for the others. */
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
  /** The queue it came from, for a message in a dead-letter queue. */
  readonly deadLetterSourceArn?: string | undefined;
  /** Retention counts from here. */
  readonly sentAt: number;
  /** In this queue and, for a message in a dead-letter queue, in the one before. */
  receiveCount: number;
  /** In this queue alone: what `maxReceiveCount` is compared with. */
  receivesHere: number;
  firstReceivedAt?: number;
  lastReceivedAt?: number;
  /** Delayed or in flight until then. */
  visibleAt: number;
}

export function isVisible(message: QueuedMessage, now: number): boolean {
  return message.visibleAt <= now;
}

/** Received, and neither deleted nor visible again. */
export function isInFlight(message: QueuedMessage, now: number): boolean {
  return message.receivesHere > 0 && !isVisible(message, now);
}

export function isDelayed(message: QueuedMessage, now: number): boolean {
  return message.receivesHere === 0 && !isVisible(message, now);
}

/** What leaves a queue cannot be changed by what happens inside later, nor the other way round. */
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
