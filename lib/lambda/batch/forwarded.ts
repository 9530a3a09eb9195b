/**
 * Finds the envelope and the sent content of messages that reach a consumer inside a forwarder's body. Forwarders are SNS
 * without raw delivery, EventBridge (whole events, an `InputPath`, an input transformer), both in a row, and pipes. Pure.
 */
import { ENVELOPE_ATTRIBUTE } from "../../contract.ts";
import { type EnvelopeReading, readHeldEnvelope } from "../../messaging/envelope.ts";

export interface Forwarded {
  readonly reading: EnvelopeReading;
  /** The ARNs of the topics that claim to have forwarded it. */
  readonly topics: readonly string[];
  /** Whether it's in the place that a bus, its transformers or a pipe use; otherwise a topic's. */
  readonly isOfBus: boolean;
  /** The sent content: the rest differs between two sends of one message. */
  readonly content: unknown;
}

type ForwardedFields = Readonly<Record<string, unknown>>;

type Visit = (part: unknown) => unknown;

/** An envelope as a field name, in JSON or in JSON nested as a string. */
const NAMED = new RegExp(`${ENVELOPE_ATTRIBUTE}\\\\*"\\s*:`);

/** The maximum depth of a fingerprint. */
const MAX_DEPTH = 500;

/** Fields of a notification that differ each time a message is published. */
const OF_ONE_PUBLICATION =
  /^(MessageId|Timestamp|SequenceNumber|Signature|SignatureVersion|SigningCertURL|SigningCertUrl|UnsubscribeURL|UnsubscribeUrl)$/;

/** Fields of an event that differ each time it is put, or replayed from an archive. */
const OF_ONE_EVENT = /^(id|time|replay-name)$/;

/** Fields of an SQS message, as pipes pass it on, that differ in each delivery. */
const OF_ONE_DELIVERY = /^(messageId|receiptHandle|attributes)$/;

/** Attributes that tracers add to a message: each send is another span. */
const OF_TRACERS =
  /^(traceparent|tracestate|baggage|b3|x-b3-.*|x-amzn-trace-id|awstraceheader|uber-trace-id|sentry-trace|newrelic|_datadog|x-datadog-.*)$/i;

const MALFORMED: EnvelopeReading = { found: false, reason: "malformed" };

/** `undefined` for a text without an envelope, which isn't parsed. */
export function readForwarded(text: string): Forwarded | undefined {
  if (!NAMED.test(text)) return undefined;
  const search = new Search();
  try {
    return search.end(search.visit(JSON.parse(text)));
  } catch {
    return search.end(text);
  }
}

/** Like `readForwarded`, for an EventBridge event, or the value that SNS passes to a function. */
export function readForwardedValue(value: unknown): Forwarded | undefined {
  return readForwarded(JSON.stringify(value) ?? "");
}

/** Extracts the sent content from a forwarder's form. A value nested too deeply stays unchanged. */
export function contentOf(value: unknown): unknown {
  try {
    return new Search().visit(value);
  } catch {
    return value;
  }
}

class Search {
  readonly #found: EnvelopeReading[] = [];
  readonly #topics: string[] = [];
  #isOfBus = false;

  end(content: unknown): Forwarded {
    const [first = MALFORMED, ...others] = this.#found;
    const isOne = others.every((each) => keyOf(each) === keyOf(first));
    return { reading: isOne ? first : MALFORMED, topics: this.#topics, isOfBus: this.#isOfBus, content };
  }

  /**
   * In known forms, looks only where a forwarder puts the envelope. A deeper envelope isn't the sender's, but part of the
   * content.
   * @throws RangeError for a value nested too deeply.
   */
  visit(value: unknown, depth = 0): unknown {
    if (depth > MAX_DEPTH) throw new RangeError("nested too deeply");
    const visit = (part: unknown) => this.visit(part, depth + 1);
    if (typeof value === "string") return this.#visitText(value, visit);
    if (Array.isArray(value)) return value.map(visit);
    if (Object(value) !== value) return value;
    const fields = value as ForwardedFields;
    if (typeof fields.TopicArn === "string" && typeof fields.Message === "string") {
      this.#topics.push(fields.TopicArn);
      return this.#visitPublication(fields, visit);
    }
    this.#isOfBus = true;
    if (typeof fields.source === "string" && typeof fields["detail-type"] === "string") {
      return this.#visitEvent(fields, visit);
    }
    if (fields.eventSource === "aws:sqs" && typeof fields.body === "string") {
      return this.#visitDelivery(fields, visit);
    }
    if (this.#takes(fields)) return sent(fields);
    return Object.fromEntries(Object.entries(fields).map(([name, part]) => [name, visit(part)]));
  }

  /** An SNS message without raw delivery. */
  #visitPublication(fields: ForwardedFields, visit: Visit): ForwardedFields {
    const { MessageAttributes: attributes = {}, Message } = fields;
    const rest = { ...without(fields, OF_ONE_PUBLICATION), MessageAttributes: sentAttributes(attributes) };
    return this.#takes(attributes) ? rest : { ...rest, Message: visit(Message) };
  }

  /** A whole EventBridge event. */
  #visitEvent(fields: ForwardedFields, visit: Visit): ForwardedFields {
    const { detail } = fields;
    // A detail without an envelope is a user's own, and may have any form.
    const held = () => (NAMED.test(JSON.stringify(detail) ?? "") ? visit(detail) : detail);
    return { ...without(fields, OF_ONE_EVENT), detail: this.#takes(detail) ? sent(detail) : held() };
  }

  /** An SQS message, as pipes pass it on. */
  #visitDelivery(fields: ForwardedFields, visit: Visit): ForwardedFields {
    const { messageAttributes: attributes = {}, body } = fields;
    const rest = { ...without(fields, OF_ONE_DELIVERY), messageAttributes: sentAttributes(attributes) };
    return this.#takes(attributes) ? rest : { ...rest, body: visit(body) };
  }

  /** Text with an envelope that isn't JSON stays unchanged: its envelope can't be read. */
  #visitText(text: string, visit: Visit): unknown {
    if (!NAMED.test(text)) return text;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      this.#found.push(MALFORMED);
      return text;
    }
    return visit(parsed);
  }

  #takes(holder: unknown): holder is ForwardedFields {
    if (Object(holder) !== holder || !Object.hasOwn(holder as ForwardedFields, ENVELOPE_ATTRIBUTE))
      return false;
    this.#found.push(readHeldEnvelope((holder as ForwardedFields)[ENVELOPE_ATTRIBUTE]));
    return true;
  }
}

function keyOf(reading: EnvelopeReading): string | undefined {
  return reading.found ? reading.envelope.key : undefined;
}

function sent({ [ENVELOPE_ATTRIBUTE]: _, ...rest }: ForwardedFields): ForwardedFields {
  return rest;
}

function sentAttributes(attributes: unknown): ForwardedFields {
  return without(sent(Object(attributes)), OF_TRACERS);
}

function without(fields: ForwardedFields, names: RegExp): ForwardedFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.test(name)));
}
