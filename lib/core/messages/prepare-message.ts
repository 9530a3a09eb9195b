/** Checks messages and encodes their bodies, before any I/O. Knows a destination by its address only. Pure. */
import { ENVELOPE_VERSION } from "../../contract.ts";
import { MessageIdInvalidError, PayloadInvalidError } from "../errors.ts";
import { keyFault, lacksValue } from "../identity.ts";
import { findUnfaithful, isPlainObject } from "../json.ts";
import { kindOf } from "../kind-of.ts";
import { readTraceparent } from "../traceparent.ts";
import { ADDRESS_RULES, type AddressKind, destinationOf, parseAddress } from "./address.ts";
import type { MessageAttributes, OutgoingMessage, StoredMessage } from "./outgoing-message.ts";

interface Destination {
  readonly kind: AddressKind;
  /** Fields of its messages, beside those that all messages have. */
  readonly fields: readonly string[];
  /** The limit of a body with its attributes. */
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

/** What 256 KiB leave for the envelope, and so does any other size of a topic. */
const ENVELOPE_BYTES = 4096;

const CONTENT_FIELDS = ["key", "body", "traceparent"];

/**
 * `where` names the message in errors; `traced` is the trace context of a message that has none of its own.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key or group; PayloadInvalidError
 * (`PAYLOAD_INVALID`) for anything else that cannot be sent as it is.
 */
export function prepareMessage(where: string, message: OutgoingMessage, traced?: string): StoredMessage {
  const given: Given = Object(message);
  const destination = DESTINATIONS.find(({ kind }) => kind in given);
  if (!destination) throw invalid(where, "must be an object with `queue`, `topic` or `bus`");
  const { kind, fields } = destination;
  checkFields(where, message, [kind, ...CONTENT_FIELDS, ...fields]);
  const to = parseAddress(kind, given[kind]);
  if (to === undefined)
    throw invalid(where, `\`${kind}\` must be ${ADDRESS_RULES[kind]}; got ${kindOf(given[kind])}`);
  checkId(where, "key", given.key);
  const attributes = kind === "bus" ? undefined : checkAttributes(where, given.attributes);
  if (kind === "bus") checkEvent(where, given, fields);
  else checkQueued(where, given, to.isFifo);
  const text = bodyText(where, given.body);
  checkSize(where, text, attributes, destination, given.maximumMessageSize as number | undefined);
  const traceparent = readTraceparent(given.traceparent === undefined ? traced : given.traceparent);
  return { ...message, [kind]: to.text, body: text, traceparent, attributes } as StoredMessage;
}

type Given = Readonly<Record<string, unknown>>;

const invalid = (where: string, why: string): PayloadInvalidError =>
  new PayloadInvalidError(`${where}: ${why}`);

/** What only messages to queues and topics have. */
function checkQueued(where: string, given: Given, isFifo: boolean): void {
  const { group, delaySeconds, maximumMessageSize: size } = given;
  if (group !== undefined || isFifo) checkId(where, "group", group);
  const fault = delaySeconds === undefined ? undefined : delayFault(delaySeconds, isFifo);
  if (fault) throw invalid(where, `\`delaySeconds\` ${fault}`);
  if (size === undefined || isWholeNumber(size, 1024, 1_048_576)) return;
  throw invalid(
    where,
    "`maximumMessageSize` must be the topic's own, a whole number of bytes from 1024 to 1048576",
  );
}

/** What only events have. */
function checkEvent(where: string, given: Given, fields: readonly string[]): void {
  const { source, body } = given;
  const lacking = fields.find((name) => typeof given[name] !== "string" || !/^.{1,128}$/.test(given[name]));
  if (lacking) throw invalid(where, `\`${lacking}\` must be text of 1 to 128 characters`);
  if (`${source}`.startsWith("aws."))
    throw invalid(where, "`source` must not begin with `aws.`: EventBridge keeps that for AWS");
  if (Object(body) !== body || Array.isArray(body))
    throw invalid(where, "the body of an event must be an object");
}

/** @param topicBytes the limit of a topic that says its own */
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
  const raise = kind === "topic" ? "give the topic's `maximumMessageSize` if it is larger, " : "";
  throw invalid(
    where,
    `${what} ${bytes} bytes, ${maxBytes} are possible: ${raise}check it in by S3Bodies, or send its address`,
  );
}

function delayFault(value: unknown, isFifo: boolean): string | undefined {
  if (isFifo) return "cannot be given for a FIFO queue, which delays all of its messages alike";
  return isWholeNumber(value, 0, 900) ? undefined : "must be a whole number of seconds from 0 to 900";
}

const isWholeNumber = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

/**
 * Checks messages that are given together.
 * @throws as `prepareMessage`; MessageIdInvalidError where a FIFO queue or a consumer would take one for another.
 */
export function prepareMessages(
  messages: readonly OutgoingMessage[],
  traced?: string,
): readonly StoredMessage[] {
  if (!Array.isArray(messages)) throw new PayloadInvalidError("the messages must be an array");
  const prepared = Array.from(messages as readonly OutgoingMessage[], (message, index) =>
    prepareMessage(`messages[${index}]`, message, traced),
  );
  refuseTwins(prepared);
  return prepared;
}

/** A FIFO queue would drop one of two messages under one name, and a consumer would refuse it. */
export function refuseTwins(messages: readonly StoredMessage[]): void {
  const first = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    const { source, detailType, key } = message;
    const name = JSON.stringify([destinationOf(message), source, detailType, key]);
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else if (contentOf(messages[earlier]!) !== contentOf(message)) {
      throw new MessageIdInvalidError(
        `messages[${index}]: has the key of messages[${earlier}] and another body or other attributes: give each message its own key`,
      );
    }
  }
}

const contentOf = ({ body, attributes }: StoredMessage) => JSON.stringify([body, attributes]);

/**
 * Why a message that a database holds cannot be sent as it is. A later version may know what this one does not: that
 * version sends the message.
 */
export function faultOf(stored: unknown): "MessageInvalid" | "MessageUnknown" | undefined {
  // A store in memory keeps fields that are `undefined`, which JSON leaves out.
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

/** A misspelt field would be lost without a word, and ids of the caller's own would undo the derived ones. */
export function checkFields(where: string, message: object, known: readonly string[]): void {
  const unknown = Object.keys(message).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  if (/Id$|^id$/.test(unknown)) {
    throw new MessageIdInvalidError(
      `${where}: \`${unknown}\` cannot be given, ids are derived from key and group: a random id deduplicates nothing`,
    );
  }
  throw new PayloadInvalidError(`${where}: \`${unknown}\` is unknown: known are ${known.join(", ")}`);
}

/**
 * Refuses text that cannot name a message or its group. Never repeats the value.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`)
 */
export function checkId(where: string, name: "key" | "group", value: unknown): asserts value is string {
  const fault = idFault(name, value);
  if (fault !== undefined) throw new MessageIdInvalidError(`${where}: the ${name} ${fault}`);
}

function idFault(name: "key" | "group", value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") {
    return name === "group"
      ? "is missing: give what is to stay in order"
      : "is missing: deduplication by content is never used, since it takes two equal messages for one: give the business key";
  }
  if (typeof value !== "string") return `must be text; got a value of type ${typeof value}`;
  if (lacksValue(value)) return "is the text of a value that is not there, or that is no text";
  return keyFault(value);
}

/** A message takes ten, and the envelope is one; behind raw delivery SNS drops a message that has more. */
const MAX_ATTRIBUTES = 9;

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
const ATTRIBUTE_NAME = /^(?!aws\.|amazon\.)(?=.{1,256}$)[\w-]+(?:\.[\w-]+)*$/i;
const RESERVED = /^onceonly/i;

/** The range of SQS goes further; JavaScript then writes exponents, which the documentation of SQS does not mention. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * A copy in the order of the names: the same whoever wrote them down. `undefined` where there are none.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`), which never repeats a value.
 */
export function checkAttributes(where: string, attributes: unknown): MessageAttributes | undefined {
  if (attributes === undefined) return undefined;
  const refuse = (why: string): never => {
    throw new PayloadInvalidError(`${where}: ${why}`);
  };
  if (!isPlainObject(attributes)) return refuse("`attributes` must be an object of texts and numbers");
  const entries = Object.entries(attributes as object).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length > MAX_ATTRIBUTES) {
    refuse(`has ${entries.length} attributes, ${MAX_ATTRIBUTES} are possible beside the envelope`);
  }
  for (const [name, value] of entries) {
    if (!ATTRIBUTE_NAME.test(name)) {
      refuse(
        "the name of an attribute must have 1 to 256 letters, digits, `_`, `-` and single dots inside, and not begin with `AWS.` or `Amazon.`",
      );
    }
    if (RESERVED.test(name))
      refuse(`the attribute \`${name}\` is reserved: what begins so is onceonly's own`);
    const fault = attributeFault(value);
    if (fault) refuse(`the attribute \`${name}\` ${fault}`);
  }
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as MessageAttributes);
}

function attributeFault(value: unknown): string | undefined {
  if (typeof value === "number") {
    return NUMBER.test(String(value)) ? undefined : "must be a number that is written without an exponent";
  }
  if (typeof value !== "string") return `must be text or a number; got a value of type ${typeof value}`;
  if (value === "") return "is empty, which no queue takes: leave it out";
  return SENDABLE_TEXT.test(value) ? undefined : "has characters that SQS does not take";
}

/** Names, types and values count, in UTF-8; both types have names of 6 letters. */
function bytesOfAttributes(attributes: MessageAttributes = {}): number {
  return Object.entries(attributes).reduce((bytes, each) => bytes + Buffer.byteLength(each.join("")) + 6, 0);
}

/** XML's characters: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const SENDABLE_TEXT = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for a body that cannot be sent as it is. */
export function bodyText(where: string, body: unknown): string {
  if (typeof body === "string") {
    if (SENDABLE_TEXT.test(body)) return body;
    throw new PayloadInvalidError(
      `${where}: the body is empty or has characters that SQS does not take: send it inside an object, as JSON`,
    );
  }
  if (body === undefined) throw new PayloadInvalidError(`${where}: the body is missing`);
  const fault = findUnfaithful(body);
  if (fault === undefined) return messageText(body);
  throw new PayloadInvalidError(`${where}: the body cannot be sent: ${fault.path} is ${fault.why}`);
}

/** JSON in characters that SQS takes: SQS refuses U+FFFE and U+FFFF, which JSON leaves as they are. */
export function messageText(value: unknown): string {
  return JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === "\uFFFE" ? "\\ufffe" : "\\uffff",
  );
}

/** The fields of a message that its envelope carries. */
export type Enveloped = Pick<StoredMessage, "key" | "traceparent" | "committedAt">;

/** The envelope of a message, as JSON: consumers read it by `readEnvelope`. */
export function envelopeContent({ key, traceparent, committedAt }: Enveloped): object {
  return { v: ENVELOPE_VERSION, key, at: committedAt, traceparent: readTraceparent(traceparent) };
}
