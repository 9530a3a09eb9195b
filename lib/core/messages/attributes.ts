/** Attributes of a message beside its body and its envelope: what SQS and SNS take of them. Pure. */
import { PayloadInvalidError } from "../errors.ts";
import { isPlainObject } from "../json.ts";
import { SENDABLE_TEXT } from "./text.ts";

/** By their names: texts, and numbers that are written without an exponent. */
export type MessageAttributes = Readonly<Record<string, string | number>>;

/** A message takes ten, and the envelope is one; behind raw delivery SNS drops a message that has more. */
const MAX_ATTRIBUTES = 9;

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
const NAME = /^(?!aws\.|amazon\.)(?=.{1,256}$)[\w-]+(?:\.[\w-]+)*$/i;
const RESERVED = /^onceonly/i;

/** The range of SQS goes further; JavaScript then writes exponents, of which its documentation says nothing. */
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
    if (!NAME.test(name)) {
      refuse(
        "the name of an attribute must have 1 to 256 letters, digits, `_`, `-` and single dots inside, and not begin with `AWS.` or `Amazon.`",
      );
    }
    if (RESERVED.test(name))
      refuse(`the attribute \`${name}\` is reserved: what begins so is onceonly's own`);
    const fault = faultOf(value);
    if (fault) refuse(`the attribute \`${name}\` ${fault}`);
  }
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as MessageAttributes);
}

/** Names, types and values count, in UTF-8; both types have names of 6 letters. */
export function bytesOfAttributes(attributes: MessageAttributes = {}): number {
  return Object.entries(attributes).reduce((bytes, each) => bytes + Buffer.byteLength(each.join("")) + 6, 0);
}

function faultOf(value: unknown): string | undefined {
  if (typeof value === "number") {
    return NUMBER.test(String(value)) ? undefined : "must be a number that is written without an exponent";
  }
  if (typeof value !== "string") return `must be text or a number; got a value of type ${typeof value}`;
  if (value === "") return "is empty, which no queue takes: leave it out";
  return SENDABLE_TEXT.test(value) ? undefined : "has characters that SQS does not take";
}
