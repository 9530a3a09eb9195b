/** A message for a FIFO queue, checked before anything is sent. Pure. */
import { PayloadInvalidError } from "../core/errors.ts";
import type { MessageAttributes } from "../core/messages/attributes.ts";
import {
  checkFields,
  type MessageContent,
  prepareMessage,
  type StoredMessage,
} from "../core/messages/outgoing-message.ts";
import { checkAttempt } from "./message-ids.ts";
import { checkSize } from "./sqs.ts";

/** At most 1 MiB with the envelope. */
export interface FifoMessage extends MessageContent {
  /** What stays in order, such as the id of the order. 1 to 255 characters. */
  readonly group: string;
  /** What is read without the body: at most 9, of texts and numbers. Names that begin with `Onceonly` are reserved. */
  readonly attributes?: MessageAttributes | undefined;
}

export interface FifoResend extends FifoMessage {
  /** From 1, and another one for each deliberate re-send: repeating a re-send under its number sends nothing twice. */
  readonly attempt: number;
}

const FIELDS = ["key", "group", "body", "traceparent", "attributes"];

/**
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable key or group; PayloadInvalidError
 * (`PAYLOAD_INVALID`) for a body that cannot be sent as it is.
 */
export function prepareFifo(where: string, queue: string, message: FifoMessage): StoredMessage {
  if (Object(message) !== message) throw new PayloadInvalidError(`${where}: must be an object`);
  checkFields(where, message, FIELDS);
  const prepared = prepareMessage(where, { queue, ...message });
  checkSize(where, prepared);
  return prepared;
}

/** @throws as `prepareFifo`; MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an unusable attempt too. */
export function prepareResend(where: string, queue: string, message: FifoResend): StoredMessage {
  const { attempt, ...again } = Object(message) as FifoResend;
  checkAttempt(where, attempt);
  return prepareFifo(where, queue, again);
}
