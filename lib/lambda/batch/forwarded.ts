/** Messages that SNS or EventBridge forwarded to a queue: the queue's body is what they put around the message. Pure. */
import { ENVELOPE_ATTRIBUTE } from "../../contract.ts";
import { type EnvelopeReading, readDetailEnvelope, readEnvelope } from "../../messaging/envelope.ts";

/** What of an event of EventBridge its sender made. */
export interface SentEvent {
  readonly source?: string;
  readonly "detail-type"?: string;
  readonly detail?: unknown;
}

export interface Forwarded {
  readonly reading: EnvelopeReading;
  /** What was sent: the rest differs between two sends of one message. */
  readonly content: unknown;
}

/**
 * `undefined` unless the body is such a message with an envelope. Other bodies are not parsed.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html
 */
export function readForwarded(body: string): Forwarded | undefined {
  if (!body?.includes(ENVELOPE_ATTRIBUTE)) return undefined;
  const outer = parsed(body);
  const isNotification = typeof outer.TopicArn === "string" && typeof outer.Message === "string";
  const reading = isNotification ? readEnvelope(outer.MessageAttributes) : readDetailEnvelope(outer.detail);
  if (!reading.found && reading.reason === "absent") return undefined;
  return { reading, content: isNotification ? outer.Message : contentOfEvent(outer) };
}

/** An event that is sent twice has two ids and two times, and its sender may have been traced twice. */
export function contentOfEvent({ source, "detail-type": detailType, detail }: SentEvent): unknown {
  const { [ENVELOPE_ATTRIBUTE]: _, ...content } = Object(detail);
  return { source: source ?? "", detailType: detailType ?? "", detail: content };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
