/** Checks the attributes of a message. Pure. */
import { PayloadInvalidError } from "../errors.ts";
import { isPlainObject } from "../json.ts";
import { kindOf } from "../kind-of.ts";
import { SENDABLE_TEXT } from "./message-text.ts";
import type { MessageAttributes } from "./outgoing-message.ts";

/** A message can have ten, including the envelope; with raw delivery SNS drops a message that has more. */
const MAX_ATTRIBUTES = 9;

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
const ATTRIBUTE_NAME = /^(?!aws\.|amazon\.)(?=.{1,256}$)[\w-]+(?:\.[\w-]+)*$/i;
const RESERVED = /^onceonly/i;

/** SQS allows a larger range, but JavaScript then writes exponents, which the SQS documentation doesn't mention. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * A copy sorted by name, so that it is always the same. `undefined` if there are none.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`), which never repeats a value.
 */
export function checkAttributes(where: string, attributes: unknown): MessageAttributes | undefined {
  if (attributes === undefined) return undefined;
  const refuse = (why: string): never => {
    throw new PayloadInvalidError(`${where}: ${why}`);
  };
  if (!isPlainObject(attributes))
    return refuse("`attributes` must be an object whose values are strings or numbers");
  const entries = Object.entries(attributes as object).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length > MAX_ATTRIBUTES) {
    refuse(`has ${entries.length} attributes, but only ${MAX_ATTRIBUTES} fit next to the envelope`);
  }
  for (const [name, value] of entries) {
    if (!ATTRIBUTE_NAME.test(name)) {
      refuse(
        "attribute names must have 1 to 256 letters, digits, `_`, `-` and single dots inside, and must not begin with `AWS.` or `Amazon.`",
      );
    }
    if (RESERVED.test(name))
      refuse(
        `the attribute \`${name}\` is reserved: names that begin with \`onceonly\` belong to the library`,
      );
    const fault = attributeFault(value);
    if (fault) refuse(`the attribute \`${name}\` ${fault}`);
  }
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as MessageAttributes);
}

function attributeFault(value: unknown): string | undefined {
  if (typeof value === "number") {
    return NUMBER.test(String(value))
      ? undefined
      : "must be a number that can be written without an exponent";
  }
  if (typeof value !== "string") return `must be a string or a number (got ${kindOf(value)})`;
  if (value === "") return "is empty, and queues don't accept that: leave it out";
  return SENDABLE_TEXT.test(value) ? undefined : "has characters that SQS doesn't accept";
}

/** Names, types and values count, in UTF-8; both types have names of 6 letters. */
export function bytesOfAttributes(attributes: MessageAttributes = {}): number {
  return Object.entries(attributes).reduce((bytes, each) => bytes + Buffer.byteLength(each.join("")) + 6, 0);
}
