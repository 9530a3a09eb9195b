/** A message for a FIFO queue, checked before anything is sent. Pure. */
import { MessageIdInvalidError, PayloadInvalidError } from "../core/errors.ts";
import type { MessageAttributes, MessageContent, StoredMessage } from "../core/messages/outgoing-message.ts";
import { checkFields, prepareMessage } from "../core/messages/prepare-message.ts";
import { checkSize } from "./sqs-and-sns.ts";

/** At most 1 MiB with the envelope. */
export interface FifoMessage extends MessageContent {
  /** Messages of a group stay in order; use, for example, the order's id: 1 to 255 characters. */
  readonly group: string;
  /**
   * Consumers can read attributes without the body: at most 9 strings and numbers. Names starting with `Onceonly` are
   * reserved.
   */
  readonly attributes?: MessageAttributes | undefined;
}

export interface FifoResend extends FifoMessage {
  /** Starts at 1, with a new number for each deliberate re-send: repeating a number sends nothing twice. */
  readonly attempt: number;
}

const FIELDS = ["key", "group", "body", "traceparent", "attributes"];

/**
 * @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an invalid key or group; PayloadInvalidError
 * (`PAYLOAD_INVALID`) for a body that can't be sent unchanged.
 */
export function prepareFifo(where: string, queue: string, message: FifoMessage): StoredMessage {
  if (Object(message) !== message) throw new PayloadInvalidError(`${where}: must be an object`);
  checkFields(where, message, FIELDS);
  const prepared = prepareMessage(where, { queue, ...message });
  checkSize(where, prepared);
  return prepared;
}

/** @throws as `prepareFifo`; MessageIdInvalidError (`MESSAGE_ID_INVALID`) for an invalid attempt too. */
export function prepareResend(where: string, queue: string, message: FifoResend): StoredMessage {
  const { attempt, ...again } = Object(message) as FifoResend;
  checkAttempt(where, attempt);
  return prepareFifo(where, queue, again);
}

/** @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) */
function checkAttempt(where: string, attempt: unknown): void {
  if (Number.isSafeInteger(attempt) && (attempt as number) >= 1) return;
  throw new MessageIdInvalidError(
    `${where}: the attempt must be a whole number of at least 1, and a new one for each re-send`,
  );
}
