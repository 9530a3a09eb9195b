/**
 * A message to be sent: what callers say, and the checked form in which it is kept and sent. Knows a destination by its
 * address only. Pure.
 */

import { MessageIdInvalidError, PayloadInvalidError } from "../errors.ts";
import { keyFault, NO_VALUE } from "../identity.ts";
import { ADDRESS_RULES, type AddressKind, destinationOf, parseAddress } from "./address.ts";
import { bytesOfAttributes, checkAttributes, type MessageAttributes } from "./attributes.ts";
import { bodyText } from "./text.ts";
import { readTraceparent } from "./traceparent.ts";

export interface MessageContent {
  /**
   * The idempotency key: names the one operation that the message asks for, the same at every try to send it. Two
   * messages about one order need two keys, such as `order-7/created` and `order-7/cancelled`. 1 to 255 characters.
   */
  readonly key: string;
  /** Text is sent as it is, anything else as JSON, which must hold it faithfully. */
  readonly body: unknown;
  /**
   * W3C trace context, for the envelope. A malformed one is left out.
   * @default - in a commit that of the attempt
   */
  readonly traceparent?: string | undefined;
}

interface GroupedContent extends MessageContent {
  /**
   * What stays in order, such as the id of the order: 1 to 255 characters. FIFO queues and topics require it; for others
   * it only spreads the load fairly.
   */
  readonly group?: string | undefined;
  /**
   * What is read without the body, such as by the filter policies of SNS: at most 9, of texts and numbers, which count
   * into the size. Names that begin with `Onceonly`, `AWS.` or `Amazon.` are reserved.
   */
  readonly attributes?: MessageAttributes | undefined;
}

/** A message for an SQS queue: at most 1 MiB with the envelope. */
export interface QueueMessage extends GroupedContent {
  /** URL of the queue. `undefined`, as from an environment variable that is not set, is refused. */
  readonly queue: string | undefined;
  /**
   * Standard queues only: how long after it was sent the message is kept back, in whole seconds from 0 to 900.
   * @default - as the queue says
   */
  readonly delaySeconds?: number | undefined;
  readonly topic?: never;
  readonly bus?: never;
  readonly source?: never;
  readonly detailType?: never;
}

/** A message for an SNS topic: at most 252 KiB. */
export interface TopicMessage extends GroupedContent {
  /** ARN of the topic. `undefined` is refused. */
  readonly topic: string | undefined;
  readonly delaySeconds?: never;
  readonly queue?: never;
  readonly bus?: never;
  readonly source?: never;
  readonly detailType?: never;
}

/** An event for an EventBridge bus: `body` is its detail, an object, at most 1020 KiB; the envelope goes into it. */
export interface BusMessage extends MessageContent {
  /** Name or ARN of the bus. `undefined` is refused. */
  readonly bus: string | undefined;
  /** Who sends it, as rules match it: 1 to 128 characters. */
  readonly source: string;
  /** 1 to 128 characters. */
  readonly detailType: string;
  readonly attributes?: never;
  readonly delaySeconds?: never;
  readonly group?: never;
  readonly queue?: never;
  readonly topic?: never;
}

export type OutgoingMessage = QueueMessage | TopicMessage | BusMessage;

/** A message that was checked, with its body as the text that is sent. Survives JSON. */
export type StoredMessage = OutgoingMessage & {
  readonly body: string;
  /** When its commit was made (epoch ms), read from the record. A message without a commit has none. */
  readonly committedAt?: number;
};

/**
 * Fields by the one that names the destination; the rules of their addresses, and how large a body may be. SNS takes
 * 256 KiB unless a topic is set to more, EventBridge 1 MB since January 2026: 4 KiB of it are left for the envelope, and for
 * what EventBridge adds to an event.
 * https://docs.aws.amazon.com/sns/latest/dg/large-message-payloads.html
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
const DESTINATIONS: readonly (readonly [
  address: AddressKind,
  fields: readonly string[],
  maxBytes: number,
])[] = [
  ["queue", ["group", "attributes", "delaySeconds"], 1_048_576],
  ["topic", ["group", "attributes"], 258_048],
  ["bus", ["source", "detailType"], 1_044_480],
];

const CONTENT_FIELDS = ["key", "body", "traceparent"];

/** Whether a message can have it. What has other fields is of a later version. */
export const isMessageField = (name: string): boolean =>
  CONTENT_FIELDS.includes(name) ||
  DESTINATIONS.some(([address, fields]) => address === name || fields.includes(name));

/**
 * Checks a message and encodes its body, before any I/O; `where` names it in errors, and `traced` is the trace context of a
 * message that has none of its own.
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key or group; PayloadInvalidError
 * (`PAYLOAD_INVALID`) for anything else that cannot be sent as it is.
 */
export function prepareMessage(where: string, message: OutgoingMessage, traced?: string): StoredMessage {
  const given: Readonly<Record<string, unknown>> = Object(message);
  const refuse = (why: string): never => {
    throw new PayloadInvalidError(`${where}: ${why}`);
  };
  const destination = DESTINATIONS.find(([address]) => address in given);
  if (!destination) return refuse("must be an object with `queue`, `topic` or `bus`");
  const [address, fields, maxBytes] = destination;
  checkFields(where, message, [address, ...CONTENT_FIELDS, ...fields]);
  const { key, group, body, source, traceparent = traced, delaySeconds } = given;
  const to = parseAddress(address, given[address]);
  if (to === undefined) return refuse(`\`${address}\` must be ${ADDRESS_RULES[address]}`);
  checkId(where, "key", key);
  const attributes = address === "bus" ? undefined : checkAttributes(where, given.attributes);
  if (address !== "bus") {
    if (group !== undefined || to.isFifo) checkId(where, "group", group);
    const fault = delaySeconds === undefined ? undefined : delayFault(delaySeconds, to.isFifo);
    if (fault) refuse(`\`delaySeconds\` ${fault}`);
  } else {
    const lacking = fields.find((name) => typeof given[name] !== "string" || !/^.{1,128}$/.test(given[name]));
    if (lacking) refuse(`\`${lacking}\` must be text of 1 to 128 characters`);
    if (`${source}`.startsWith("aws."))
      refuse("`source` must not begin with `aws.`: EventBridge keeps that for AWS");
    if (Object(body) !== body || Array.isArray(body)) refuse("the body of an event must be an object");
  }
  const text = bodyText(where, body);
  const bytes = Buffer.byteLength(text) + bytesOfAttributes(attributes);
  if (bytes > maxBytes) {
    refuse(
      `the body ${attributes ? "and its attributes are" : "is"} ${bytes} bytes, ${maxBytes} are possible: check it in by S3Bodies, or send its address`,
    );
  }
  const trace = readTraceparent(traceparent);
  return { ...message, [address]: to.text, body: text, traceparent: trace, attributes } as StoredMessage;
}

function delayFault(value: unknown, isFifo: boolean): string | undefined {
  if (isFifo) return "cannot be given for a FIFO queue, which delays all of its messages alike";
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 900) return undefined;
  return "must be a whole number of seconds from 0 to 900";
}

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

/** Of two messages under one name a FIFO queue would drop one, and a consumer would refuse it, whatever it says. */
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
 * Refuses what cannot name a message or its group. Never repeats the value.
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
  if (NO_VALUE.test(value)) return "is the text of a value that is not there, or that is no text";
  return keyFault(value);
}
