/** A message for a FIFO queue, checked before anything is sent. Pure. */
import { MessageIdInvalidError, PayloadInvalidError } from "../core/errors.ts";
import type { MessageAttributes, MessageContent, StoredMessage } from "../core/messages/outgoing-message.ts";
import { checkFields, prepareMessage } from "../core/messages/prepare-message.ts";
import { checkSize } from "./sqs-and-sns.ts";

/** At most 1 MiB with the envelope. */
export interface FifoMessage extends MessageContent {
  /** Names what stays in order, such as the id of the order: 1 to 255 characters. */
  readonly group: string;
  /** Consumers read attributes without the body: at most 9 texts and numbers. Names that begin with `Onceonly` are reserved. */
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

/** @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) */
function checkAttempt(where: string, attempt: unknown): void {
  if (Number.isSafeInteger(attempt) && (attempt as number) >= 1) return;
  throw new MessageIdInvalidError(
    `${where}: the attempt must be a whole number from 1, a new one for each re-send`,
  );
}
