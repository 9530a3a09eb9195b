/** What the events of all sources come down to: records with a name of their own, in lanes that keep an order. */

/** A place in a partition of Kafka: `partition` is `<topic>-<number>`. */
export interface KafkaIdentifier {
  readonly partition: string;
  readonly offset: number;
}

/** How the source knows a record: the message id of SQS, a sequence number, or a place in Kafka. */
export type ItemIdentifier = string | KafkaIdentifier;

/** The answer of a batch handler; Lambda reads it where the event source mapping reports batch item failures. */
export interface BatchResponse<Identifier extends ItemIdentifier = string> {
  batchItemFailures: { itemIdentifier: Identifier }[];
}

export interface BatchItem {
  /** As the event has it: what the handler gets. */
  readonly record: unknown;
  readonly identifier: ItemIdentifier;
  /** What the producer sent: the default fingerprint, of all that the handler reads. */
  readonly body: unknown;
  /**
   * The key that travels with the message.
   * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for one that cannot be read, or is not believed.
   */
  readonly envelopeKey?: () => string | undefined;
  /** W3C trace context of whoever sent the message. */
  readonly traceparent?: string | undefined;
  /** When the commit of the message was made (epoch ms), as its envelope says. */
  readonly committedAt?: number | undefined;
  /** The key when nobody has named one. */
  readonly ownKey: string;
  /** A second send of the same operation, or a redrive, has another `ownKey`. */
  readonly isOwnKeyFallback: boolean;
  /** What hides a message for a while; only SQS can. */
  readonly receipt?: Receipt | undefined;
}

/** As logs name it: its place at the source, nothing of its content. */
export function nameOf({ identifier }: Pick<BatchItem, "identifier">): string {
  const name =
    typeof identifier === "string" ? identifier : `${identifier.partition} at offset ${identifier.offset}`;
  return `record ${name}`;
}

export interface Receipt {
  readonly queueUrl: string;
  readonly handle: string;
}

/**
 * Done one after the other, up to the first that fails: that one and all behind it are returned. A message of a
 * standard queue has a lane of its own; a FIFO group, a shard and a partition are one lane each.
 */
export type Lane = readonly BatchItem[];
