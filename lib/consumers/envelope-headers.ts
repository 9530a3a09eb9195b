/** The envelope as a header, for producers. */
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import { messageText } from "../core/messages/message-text.ts";
import { checkId, envelopeContent } from "../core/messages/prepare-message.ts";

export type EnvelopeHeaders = Readonly<Record<typeof ENVELOPE_ATTRIBUTE, string>>;

/**
 * The headers that carry a message's idempotency key, in ASCII: `producer.send({ topic, messages: [{ value, headers:
 * envelopeHeaders({ key }) }] })`. Use the same key when you send the same operation again. A malformed `traceparent` is left
 * out.
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

/** Brokers and clients treat other characters differently. */
function asciiOf(json: string): string {
  return json.replace(
    /[\u0080-\uFFFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
