/** What every broker's message comes down to. */

export interface Delivery {
  /** As logs name the message: its place at the broker, nothing of its content. */
  readonly name: string;
  /** What the producer sent. It is the default fingerprint. */
  readonly content: Uint8Array | string | null | undefined;
  /** The value of the header `OnceonlyEnvelope`, as text or bytes; `undefined` without such a header. */
  readonly envelope: unknown;
  /** The place of the message, the same at each delivery and of no other message. A broker without places has none. */
  readonly position?: readonly string[] | undefined;
  /** How often the message was delivered, from 1, where the broker counts. */
  readonly deliveries?: number | undefined;
}

/** Text of bytes, as clients differ in what they make of headers. */
export function headerText(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}
