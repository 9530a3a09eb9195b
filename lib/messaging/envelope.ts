/**
 * The envelope: the idempotency key that travels with a message. SQS's own ids change when a message is redriven or
 * sent again; attributes do not. Pure.
 */
import { ENVELOPE_ATTRIBUTE, ENVELOPE_VERSION } from "../contract.ts";
import { keyFault } from "../core/identity.ts";
import { messageText } from "../core/messages/text.ts";
import { readTraceparent } from "../core/messages/traceparent.ts";

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

/** What an envelope holds, as JSON. A malformed `traceparent` is left out: tracing never stops a message. */
export function envelopeContent({ key, traceparent }: Envelope): object {
  return { v: ENVELOPE_VERSION, key, traceparent: readTraceparent(traceparent) };
}

/** The envelope as message attributes, of SQS and of SNS. */
export function writeEnvelope(envelope: Envelope) {
  return {
    [ENVELOPE_ATTRIBUTE]: { DataType: "String", StringValue: messageText(envelopeContent(envelope)) },
  };
}

/**
 * Reads the envelope of a message: of a Lambda event record (`messageAttributes`; `MessageAttributes` of SNS) or of the
 * SDK's (`MessageAttributes`). Never throws: without a usable envelope the answer says why, and the caller decides on
 * another key.
 */
export function readEnvelope(messageAttributes: unknown): EnvelopeReading {
  return readHolder(messageAttributes, ({ stringValue, StringValue, Value }) =>
    JSON.parse(stringValue ?? StringValue ?? Value),
  );
}

/** As `readEnvelope`, of what a holder has under the envelope's name, in whatever form it got there. */
export function readHeldEnvelope(held: unknown): EnvelopeReading {
  return readHolder({ [ENVELOPE_ATTRIBUTE]: held ?? "" }, (content) => {
    const text =
      typeof content === "string" ? content : (content.stringValue ?? content.StringValue ?? content.Value);
    return text === undefined ? content : JSON.parse(text);
  });
}

// biome-ignore lint/suspicious/noExplicitAny: whatever it is, reading it may fail, and that is an answer too.
function readHolder(holder: unknown, contentOf: (held: any) => any): EnvelopeReading {
  try {
    const held = Object(holder)[ENVELOPE_ATTRIBUTE];
    if (held === undefined || held === null) return { found: false, reason: "absent" };
    const { v, key, traceparent } = contentOf(held);
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
