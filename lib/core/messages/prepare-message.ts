/** Checks messages and encodes their bodies, before any I/O. Knows a destination only by its address. Pure. */
import { ENVELOPE_VERSION } from "../../contract.ts";
import { MessageIdInvalidError, PayloadInvalidError } from "../errors.ts";
import { keyFault, lacksValue } from "../identity.ts";
import { kindOf } from "../kind-of.ts";
import { suggestion } from "../nearest.ts";
import { readTraceparent } from "../traceparent.ts";
import { ADDRESS_RULES, type AddressKind, destinationOf, parseAddress } from "./address.ts";
import { DELIVER_AT_RULE, readDeliverAt } from "./deliver-at.ts";
import { bytesOfAttributes, checkAttributes } from "./message-attributes.ts";
import { bodyText } from "./message-text.ts";
import type { MessageAttributes, OutgoingMessage, StoredMessage } from "./outgoing-message.ts";

interface Destination {
  readonly kind: AddressKind;
  /** The fields of its messages, in addition to those of all messages. */
  readonly fields: readonly string[];
  /** The limit for a body with its attributes. */
  readonly maxBytes: number;
}

/**
 * SNS accepts 256 KiB unless the topic's `MaximumMessageSize` says otherwise, EventBridge 1 MB since January 2026. 4 KiB are
 * left for the envelope and for what EventBridge adds to an event.
 * https://docs.aws.amazon.com/sns/latest/dg/large-message-payloads.html
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
const DESTINATIONS: readonly Destination[] = [
  { kind: "queue", fields: ["group", "attributes", "delaySeconds"], maxBytes: 1_048_576 },
  { kind: "topic", fields: ["group", "attributes", "maximumMessageSize"], maxBytes: 258_048 },
  { kind: "bus", fields: ["source", "detailType"], maxBytes: 1_044_480 },
];

/** Of 256 KiB or any other topic limit, this much is reserved for the envelope. */
const ENVELOPE_BYTES = 4096;

const CONTENT_FIELDS = ["key", "body", "traceparent", "deliverAt"];

/**
 * `where` names the message in errors; `traced` is the trace context for a message without its own.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key or group; PayloadInvalidError (`PAYLOAD_INVALID`)
 * for anything else that can't be sent as it is.
 */
export function prepareMessage(where: string, message: OutgoingMessage, traced?: string): StoredMessage {
  const given: Given = Object(message);
  const destination = DESTINATIONS.find(({ kind }) => kind in given);
  if (!destination)
    throw invalid(where, "must be an object with `queue`, `topic` or `bus` (its destination)");
  const { kind, fields } = destination;
  checkFields(where, message, [kind, ...CONTENT_FIELDS, ...fields]);
  const to = parseAddress(kind, given[kind]);
  if (to === undefined)
    throw invalid(where, `\`${kind}\` must be ${ADDRESS_RULES[kind]} (got ${kindOf(given[kind])})`);
  checkId(where, "key", given.key);
  const attributes = kind === "bus" ? undefined : checkAttributes(where, given.attributes);
  if (kind === "bus") checkEvent(where, given, fields);
  else checkQueued(where, given, to.isFifo);
  const deliverAt = checkDeliverAt(where, given);
  const text = bodyText(where, given.body);
  checkSize(where, text, attributes, destination, given.maximumMessageSize as number | undefined);
  if (deliverAt !== undefined) checkScheduledSize(where, text, attributes);
  const traceparent = readTraceparent(given.traceparent === undefined ? traced : given.traceparent);
  return { ...message, [kind]: to.text, body: text, traceparent, attributes, deliverAt } as StoredMessage;
}

type Given = Readonly<Record<string, unknown>>;

const invalid = (where: string, why: string): PayloadInvalidError =>
  new PayloadInvalidError(`${where}: ${why}`);

/** Checks that apply only to messages for queues and topics. */
function checkQueued(where: string, given: Given, isFifo: boolean): void {
  const { group, delaySeconds, maximumMessageSize: size } = given;
  if (group !== undefined || isFifo) checkId(where, "group", group);
  const fault = delaySeconds === undefined ? undefined : delayFault(delaySeconds, isFifo);
  if (fault) throw invalid(where, `\`delaySeconds\` ${fault}`);
  if (size === undefined || isWholeNumber(size, ENVELOPE_BYTES + 1024, 1_048_576)) return;
  throw invalid(
    where,
    `\`maximumMessageSize\` must be the topic's setting, a whole number of bytes between ${ENVELOPE_BYTES + 1024} and 1048576: ${ENVELOPE_BYTES} are reserved for the envelope`,
  );
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) */
function checkDeliverAt(where: string, { deliverAt, delaySeconds }: Given): string | undefined {
  if (deliverAt === undefined) return undefined;
  if (delaySeconds !== undefined)
    throw invalid(where, "has both `deliverAt` and `delaySeconds`: keep one of them");
  const read = readDeliverAt(deliverAt);
  if (read === undefined) throw invalid(where, `\`deliverAt\` ${DELIVER_AT_RULE} (got ${kindOf(deliverAt)})`);
  return read;
}

/** Checks that apply only to events. */
function checkEvent(where: string, given: Given, fields: readonly string[]): void {
  const { source, body } = given;
  const lacking = fields.find((name) => typeof given[name] !== "string" || !/^.{1,128}$/.test(given[name]));
  if (lacking) throw invalid(where, `\`${lacking}\` must be a string of 1 to 128 characters`);
  if (`${source}`.startsWith("aws."))
    throw invalid(where, "`source` must not begin with `aws.`: EventBridge reserves that for AWS");
  if (Object(body) !== body || Array.isArray(body))
    throw invalid(where, "the `body` of an event must be an object");
}

/** @param topicBytes the limit of a topic that has its own */
function checkSize(
  where: string,
  text: string,
  attributes: MessageAttributes | undefined,
  { kind, maxBytes: usual }: Destination,
  topicBytes: number | undefined,
): void {
  const bytes = Buffer.byteLength(text) + bytesOfAttributes(attributes);
  const maxBytes = topicBytes === undefined ? usual : topicBytes - ENVELOPE_BYTES;
  if (bytes <= maxBytes) return;
  const what = attributes ? "the body and its attributes are" : "the body is";
  const raise = kind === "topic" ? "pass the topic's `maximumMessageSize` if it is larger, " : "";
  throw invalid(
    where,
    `${what} ${bytes} bytes, which is more than the ${maxBytes} allowed: ${raise}store it in a bucket with S3ClaimCheck, or send a link to it`,
  );
}

/**
 * AWS doesn't say how large the input of a schedule's target may be. SNS and EventBridge accept 256 KiB everywhere, and a refusal
 * would come only at the time of the delivery. 16 KiB are left for the envelope, the ids and the names around them.
 */
const MAX_SCHEDULED_BYTES = 245_760;

/** The body and the attributes are strings inside the JSON of the target's input. */
function checkScheduledSize(where: string, text: string, attributes: MessageAttributes | undefined): void {
  const bytes = Buffer.byteLength(JSON.stringify([text, attributes]));
  if (bytes <= MAX_SCHEDULED_BYTES) return;
  throw invalid(
    where,
    `body and attributes are ${bytes} bytes as JSON, which is more than the ${MAX_SCHEDULED_BYTES} allowed with \`deliverAt\`: store the body in a bucket with S3ClaimCheck, or send a link to it`,
  );
}

function delayFault(value: unknown, isFifo: boolean): string | undefined {
  if (isFifo) return "isn't supported on a FIFO queue, which delays all of its messages by the same time";
  return isWholeNumber(value, 0, 900) ? undefined : "must be a whole number of seconds between 0 and 900";
}

const isWholeNumber = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

/**
 * Checks messages that are passed together.
 * @throws as `prepareMessage`; MessageIdInvalidError if a FIFO queue or a consumer would take one for another.
 */
export function prepareMessages(
  messages: readonly OutgoingMessage[],
  traced?: string,
): readonly StoredMessage[] {
  if (!Array.isArray(messages)) throw new PayloadInvalidError("`messages` must be an array");
  const prepared = Array.from(messages as readonly OutgoingMessage[], (message, index) =>
    prepareMessage(`messages[${index}]`, message, traced),
  );
  refuseTwins(prepared);
  return prepared;
}

/** A FIFO queue would drop one of two messages with the same name, and a consumer would refuse it. */
export function refuseTwins(messages: readonly StoredMessage[]): void {
  const first = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    const { source, detailType, key } = message;
    const name = JSON.stringify([destinationOf(message), source, detailType, key]);
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else if (contentOf(messages[earlier]!) !== contentOf(message)) {
      throw new MessageIdInvalidError(
        `messages[${index}]: has the key of messages[${earlier}] but a different body, attributes or time: give each message its own key`,
      );
    }
  }
}

const contentOf = ({ body, attributes, deliverAt }: StoredMessage) =>
  JSON.stringify([body, attributes, deliverAt]);

/**
 * Why a stored message can't be sent as it is. A later version may support fields that this one doesn't: that version sends the
 * message.
 */
export function faultOf(stored: unknown): "MessageInvalid" | "MessageUnknown" | undefined {
  // A memory store keeps `undefined` fields, which JSON leaves out.
  const given = Object.entries(Object(stored)).filter(([, value]) => value !== undefined);
  const known = Object.fromEntries(given.filter(([name]) => isKnownField(name)));
  try {
    const { bus, body } = known as Partial<StoredMessage>;
    if (typeof body !== "string") return "MessageInvalid";
    prepareMessage("a stored message", {
      ...known,
      body: bus === undefined ? body : JSON.parse(body),
    } as never);
  } catch {
    return "MessageInvalid";
  }
  return Object.keys(known).length < given.length ? "MessageUnknown" : undefined;
}

const isKnownField = (name: string): boolean =>
  CONTENT_FIELDS.includes(name) ||
  DESTINATIONS.some(({ kind, fields }) => kind === name || fields.includes(name));

/** A misspelt field would be lost silently, and the caller's own ids would replace the derived ones. */
export function checkFields(where: string, message: object, known: readonly string[]): void {
  const unknown = Object.keys(message).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  if (/Id$|^id$/.test(unknown)) {
    throw new MessageIdInvalidError(
      `${where}: \`${unknown}\` isn't accepted, because ids are derived from the key and the group (a random id would deduplicate nothing)`,
    );
  }
  throw new PayloadInvalidError(
    `${where}: \`${unknown}\` isn't a field of this message ${suggestion(unknown, known, "valid fields")}`,
  );
}

/**
 * Refuses text that can't name a message or its group. Never repeats the value.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`)
 */
export function checkId(where: string, name: "key" | "group", value: unknown): asserts value is string {
  const fault = idFault(name, value);
  if (fault !== undefined) throw new MessageIdInvalidError(`${where}: the ${name} ${fault}`);
}

function idFault(name: "key" | "group", value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") {
    return name === "group"
      ? "is missing: pass the id of whatever must stay in order"
      : "is missing: pass the business key (onceonly doesn't deduplicate by content, because two equal messages may both be meant)";
  }
  if (typeof value !== "string") return `must be a string (got ${kindOf(value)})`;
  if (lacksValue(value)) return 'is the text of a missing value, such as "undefined" or "[object Object]"';
  return keyFault(value);
}

/** The message fields that its envelope carries. */
export type Enveloped = Pick<StoredMessage, "key" | "traceparent" | "committedAt">;

/** The envelope of a message, as JSON: consumers read it with `readEnvelope`. */
export function envelopeContent({ key, traceparent, committedAt }: Enveloped): object {
  return { v: ENVELOPE_VERSION, key, at: committedAt, traceparent: readTraceparent(traceparent) };
}
