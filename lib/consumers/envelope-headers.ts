/** The envelope as a header, for those who send to a broker. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { checkId, envelopeContent, messageText } from "../core/messages/prepare-message.ts";

export type EnvelopeHeaders = Readonly<Record<typeof ENVELOPE_ATTRIBUTE, string>>;

/**
 * The headers of a message that carry its idempotency key, in ASCII: `producer.send({ topic, messages: [{ value, headers: envelopeHeaders({ key }) }] })`.
 * A second send of one operation has the same key. A `traceparent` that is malformed is left out.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key
 */
export function envelopeHeaders(envelope: {
  readonly key: string;
  readonly traceparent?: string | undefined;
}): EnvelopeHeaders {
  const { key, traceparent } = Object(envelope) as typeof envelope;
  checkId("the envelope", "key", key);
  return { [ENVELOPE_ATTRIBUTE]: asciiOf(messageText(envelopeContent({ key, traceparent }))) };
}

/** Brokers and clients differ in what they make of other characters. */
function asciiOf(json: string): string {
  return json.replace(
    /[\u0080-\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
