/** The common form of all sources' events: records with their own id, in lanes that keep an order. */

/** A place in a Kafka partition: `partition` is `<topic>-<number>`. */
export interface KafkaIdentifier {
  readonly partition: string;
  readonly offset: number;
}

/** The source's id for a record: the SQS message id, a sequence number, or a place in Kafka. */
export type ItemIdentifier = string | KafkaIdentifier;

/** The response of a batch handler; Lambda reads it if the event source mapping reports batch item failures. */
export interface BatchResponse<Identifier extends ItemIdentifier = string> {
  batchItemFailures: { itemIdentifier: Identifier }[];
}

export interface BatchItem {
  /** The record in the event, which the handler gets. */
  readonly record: unknown;
  readonly identifier: ItemIdentifier;
  /** The producer's content: the default fingerprint, of everything that the handler reads. */
  readonly body: unknown;
  /**
   * The key that travels with the message.
   * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for one that can't be read, or isn't trusted.
   */
  readonly envelopeKey?: () => string | undefined;
  /** The sender's W3C trace context. */
  readonly traceparent?: string | undefined;
  /** When the message was committed (epoch ms), according to its envelope. */
  readonly committedAt?: number | undefined;
  /** The key if neither the user nor the envelope names one. */
  readonly ownKey: string;
  /** Whether a second send of the same operation, or a redrive, has another `ownKey`. */
  readonly isOwnKeyFallback: boolean;
  /** Used to hide a message for a while; only SQS can. */
  readonly receipt?: Receipt | undefined;
}

/** The record's name in logs: its place at the source, none of its content. */
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
 * Runs in order, up to the first item that fails: that one and all after it are returned. Each message of a standard
 * queue is one lane, and so is each FIFO group, shard and partition.
 */
export type Lane = readonly BatchItem[];
