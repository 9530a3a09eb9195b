/** The common form of every broker's messages. */

export interface Delivery {
  /** The message's name in logs: its position at the broker, nothing of its content. */
  readonly name: string;
  /** The bytes or text that the producer sent: the default fingerprint. */
  readonly content: Uint8Array | string | null | undefined;
  /** The value of the header `OnceonlyEnvelope`, as a string or bytes; `undefined` without such a header. */
  readonly envelope: unknown;
  /** The unique position of the message, the same for each delivery. Absent if the broker has no positions. */
  readonly position?: readonly string[] | undefined;
  /** How often the message was delivered, from 1, if the broker counts. */
  readonly deliveries?: number | undefined;
}

/** Converts bytes to a string, because clients represent headers differently. */
export function headerText(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}
