/** The text of a message body: what SQS accepts. Pure. */
import { PayloadInvalidError } from "../errors.ts";
import { findUnfaithful } from "../json.ts";

/** XML's characters: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
export const SENDABLE_TEXT = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for a body that can't be sent as it is. */
export function bodyText(where: string, body: unknown): string {
  if (typeof body === "string") {
    if (SENDABLE_TEXT.test(body)) return body;
    throw new PayloadInvalidError(
      `${where}: the body is empty or has characters that SQS doesn't accept: wrap it in an object, which is sent as JSON`,
    );
  }
  if (body === undefined) throw new PayloadInvalidError(`${where}: the body is missing`);
  const fault = findUnfaithful(body);
  if (fault === undefined) return messageText(body);
  throw new PayloadInvalidError(`${where}: can't send the body: ${fault.path} is ${fault.why}`);
}

/** JSON in characters that SQS accepts: SQS refuses U+FFFE and U+FFFF, which JSON leaves as they are. */
export function messageText(value: unknown): string {
  return JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === "\uFFFE" ? "\\ufffe" : "\\uffff",
  );
}
