/**
 * The envelope: the idempotency key that travels with a message. SQS's own ids change when a message is redriven or
 * sent again; attributes do not. Pure.
 */
import { ENVELOPE_ATTRIBUTE, ENVELOPE_VERSION } from "../contract.ts";
import { keyFault } from "../core/identity.ts";

export interface Envelope {
  /** The idempotency key of the operation that the message asks for. */
  readonly key: string;
  /** W3C trace context of the sender; absent where none was given. */
  readonly traceparent?: string | undefined;
}

/** Why there is no envelope to go by. */
export const ENVELOPE_FAULTS = ["absent", "malformed", "unknown-version"] as const;
export type EnvelopeFault = (typeof ENVELOPE_FAULTS)[number];

export type EnvelopeReading =
  | { readonly found: true; readonly envelope: Envelope }
  | { readonly found: false; readonly reason: EnvelopeFault };

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The envelope as message attributes. A malformed `traceparent` is left out: tracing never stops a message. */
export function writeEnvelope({ key, traceparent }: Envelope) {
  const content = { v: ENVELOPE_VERSION, key, traceparent: readTraceparent(traceparent) };
  return { [ENVELOPE_ATTRIBUTE]: { DataType: "String", StringValue: messageText(content) } };
}

/**
 * Reads the envelope of a message: of a Lambda event record (`messageAttributes`) or of the SDK's (`MessageAttributes`).
 * Never throws: without a usable envelope the answer says why, and the caller decides on another key.
 */
export function readEnvelope(messageAttributes: unknown): EnvelopeReading {
  try {
    const attribute = Object(messageAttributes)[ENVELOPE_ATTRIBUTE];
    if (attribute === undefined || attribute === null) return { found: false, reason: "absent" };
    const { v, key, traceparent } = JSON.parse(attribute.stringValue ?? attribute.StringValue);
    if (v !== ENVELOPE_VERSION) {
      return { found: false, reason: Number.isInteger(v) ? "unknown-version" : "malformed" };
    }
    if (keyFault(key) !== undefined) return { found: false, reason: "malformed" };
    const trace = readTraceparent(traceparent);
    return { found: true, envelope: { key, ...(trace !== undefined && { traceparent: trace }) } };
  } catch {
    return { found: false, reason: "malformed" };
  }
}

/**
 * JSON in characters that SQS takes: of all that JSON leaves as it is, it refuses U+FFFE and U+FFFF.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export function messageText(value: unknown): string {
  return JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === "\uFFFE" ? "\\ufffe" : "\\uffff",
  );
}

function readTraceparent(value: unknown): string | undefined {
  return typeof value === "string" && TRACEPARENT.test(value) ? value : undefined;
}
