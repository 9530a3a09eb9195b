/** A message for a FIFO queue, checked and put into SQS's form before anything is sent. Pure. */
import { MessageIdInvalidError, PayloadInvalidError } from "../core/errors.ts";
import { findUnfaithful } from "../core/json.ts";
import { messageText, writeEnvelope } from "./envelope.ts";
import { checkAttempt, checkId, deduplicationIdOf, groupIdOf } from "./message-ids.ts";

export interface FifoMessage {
  /**
   * The idempotency key: names the one operation that the message asks for, the same at every try to send it. Two
   * messages about one order need two keys, such as `order-7/created` and `order-7/cancelled`. 1 to 255 characters.
   */
  readonly key: string;
  /** What stays in order, such as the id of the order. 1 to 255 characters. */
  readonly group: string;
  /** Text is sent as it is, anything else as JSON, which must hold it faithfully. At most 1 MiB with the envelope. */
  readonly body: unknown;
  /** W3C trace context, for the envelope. A malformed one is left out. */
  readonly traceparent?: string | undefined;
}

export interface FifoResend extends FifoMessage {
  /** From 1, and another one for each deliberate re-send: repeating a re-send under its number sends nothing twice. */
  readonly attempt: number;
}

/** What SQS is given, but for the entry's id in its batch. */
export interface PreparedMessage {
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId: string;
  readonly MessageAttributes: ReturnType<typeof writeEnvelope>;
}

/** Of one message, and of all messages of a request together: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
export const MAX_BYTES = 1_048_576;

/** XML's characters: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const SQS_TEXT = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;

const FIELDS = ["key", "group", "body", "traceparent"];

/**
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key, group or attempt; PayloadInvalidError
 * (`PAYLOAD_INVALID`) for a body that cannot be sent as it is.
 */
export function prepareMessage(where: string, message: FifoMessage): PreparedMessage {
  checkFields(where, message, FIELDS);
  return prepare(where, message);
}

/** @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`), PayloadInvalidError (`PAYLOAD_INVALID`) */
export function prepareResend(where: string, message: FifoResend): PreparedMessage {
  checkFields(where, message, [...FIELDS, "attempt"]);
  checkAttempt(where, message.attempt);
  return prepare(where, message, message.attempt);
}

/** Names, types and values of attributes count. */
export function bytesOf({ MessageBody, MessageAttributes }: PreparedMessage): number {
  const attributes = Object.entries(MessageAttributes).flatMap(([name, { DataType, StringValue }]) => [
    name,
    DataType,
    StringValue,
  ]);
  return [MessageBody, ...attributes].reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}

function prepare(where: string, message: FifoMessage, attempt?: number): PreparedMessage {
  const { key, group, body, traceparent } = message;
  checkId(where, "key", key);
  checkId(where, "group", group);
  const prepared = {
    MessageBody: encodeBody(where, body),
    MessageGroupId: groupIdOf(group),
    MessageDeduplicationId: deduplicationIdOf(group, key, attempt),
    MessageAttributes: writeEnvelope({ key, traceparent }),
  };
  const bytes = bytesOf(prepared);
  if (bytes <= MAX_BYTES) return prepared;
  throw new PayloadInvalidError(
    `${where}: body and envelope are ${bytes} bytes, SQS takes ${MAX_BYTES}: store the content and send its address`,
  );
}

/** A misspelt field would be lost without a word, and ids of the caller's own would undo the derived ones. */
function checkFields(where: string, message: unknown, known: readonly string[]): void {
  if (Object(message) !== message) throw new PayloadInvalidError(`${where}: must be an object`);
  const unknown = Object.keys(message as object).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  if (/Id$|^id$/.test(unknown)) {
    throw new MessageIdInvalidError(
      `${where}: \`${unknown}\` cannot be given, ids are derived from key and group: a random id deduplicates nothing`,
    );
  }
  throw new PayloadInvalidError(`${where}: \`${unknown}\` is unknown: known are ${known.join(", ")}`);
}

function encodeBody(where: string, body: unknown): string {
  if (typeof body === "string") {
    if (SQS_TEXT.test(body)) return body;
    throw new PayloadInvalidError(
      `${where}: the body is empty or has characters that SQS does not take: send it inside an object, as JSON`,
    );
  }
  if (body === undefined) throw new PayloadInvalidError(`${where}: the body is missing`);
  const fault = findUnfaithful(body);
  if (fault === undefined) return messageText(body);
  throw new PayloadInvalidError(`${where}: the body cannot be sent: ${fault.path} is ${fault.why}`);
}
