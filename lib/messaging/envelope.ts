/**
 * Reads the envelope: the idempotency key that travels with a message. SQS's own ids change when a message is redriven or
 * sent again; attributes don't. Pure.
 */
import { ENVELOPE_ATTRIBUTE, ENVELOPE_VERSION } from "../contract.ts";
import { keyFault } from "../core/identity.ts";
import { readTraceparent } from "../core/traceparent.ts";

export interface Envelope {
  /** The idempotency key of the operation that the message asks for. */
  readonly key: string;
  /** When the message was committed (epoch ms). Absent for a message sent without a commit. */
  readonly committedAt?: number | undefined;
  /** The sender's W3C trace context; absent if there was none. */
  readonly traceparent?: string | undefined;
}

/** Why a message has no usable envelope. */
export const ENVELOPE_FAULTS = ["absent", "malformed", "unknown-version"] as const;
export type EnvelopeFault = (typeof ENVELOPE_FAULTS)[number];

export type EnvelopeReading =
  | { readonly found: true; readonly envelope: Envelope }
  | { readonly found: false; readonly reason: EnvelopeFault };

/**
 * Reads the envelope in the attributes of a Lambda event record (`messageAttributes`; `MessageAttributes` in SNS) or of
 * the SDK (`MessageAttributes`). Never throws: without a usable envelope, the result says why, and the caller chooses
 * another key.
 */
export function readEnvelope(messageAttributes: unknown): EnvelopeReading {
  return readHolder(messageAttributes, (held) => JSON.parse(textIn(held)));
}

/** Like `readEnvelope`, for the value under the envelope's name, in any form. */
export function readHeldEnvelope(held: unknown): EnvelopeReading {
  return readHolder({ [ENVELOPE_ATTRIBUTE]: held ?? "" }, (content) => {
    const text = typeof content === "string" ? content : textIn(content);
    return text === undefined ? content : JSON.parse(text);
  });
}

/** The string in a message attribute: Lambda, the SDK and SNS each name it differently. */
function textIn(attribute: unknown) {
  const { stringValue, StringValue, Value } = Object(attribute);
  return stringValue ?? StringValue ?? Value;
}

/** The value may be anything; if reading it fails, that's a result too. */
function readHolder(holder: unknown, contentOf: (held: unknown) => unknown): EnvelopeReading {
  try {
    const held = Object(holder)[ENVELOPE_ATTRIBUTE];
    if (held === undefined || held === null) return { found: false, reason: "absent" };
    const { v, key, at, traceparent } = Object(contentOf(held));
    if (v !== ENVELOPE_VERSION) {
      return { found: false, reason: Number.isInteger(v) ? "unknown-version" : "malformed" };
    }
    if (keyFault(key) !== undefined) return { found: false, reason: "malformed" };
    const trace = readTraceparent(traceparent);
    return {
      found: true,
      envelope: {
        key,
        ...(Number.isFinite(at) && { committedAt: at }),
        ...(trace !== undefined && { traceparent: trace }),
      },
    };
  } catch {
    return { found: false, reason: "malformed" };
  }
}
