/** Checks a message's characters, attributes and size. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html */
import type { MessageAttribute, SqsMessageAttributes } from "./message.ts";
import { invalidParameter, SqsError } from "./sqs-error.ts";

const MAX_ATTRIBUTES = 10;
const MAX_NAME_LENGTH = 256;

// XML's characters: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
const ALLOWED_TEXT = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;
const ATTRIBUTE_NAME = /^(?!aws\.|amazon\.)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/i;
const DATA_TYPE = /^(String|Number|Binary)(\..+)?$/;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

const WRONG_TEXT =
  "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF";

export function checkBody(body: string): void {
  if (!ALLOWED_TEXT.test(body)) throw new SqsError("InvalidMessageContents", WRONG_TEXT);
}

export function checkAttributes(attributes: SqsMessageAttributes): void {
  const entries = Object.entries(attributes);
  if (entries.length > MAX_ATTRIBUTES) {
    throw invalidParameter(
      `Number of message attributes [${entries.length}] exceeds the allowed maximum [${MAX_ATTRIBUTES}].`,
    );
  }
  for (const [name, attribute] of entries) {
    checkName(name);
    checkValue(name, attribute);
  }
}

/** The limit covers the body with the names, types and values of all attributes. */
export function bytesOf(body: string, attributes: SqsMessageAttributes): number {
  let bytes = Buffer.byteLength(body);
  for (const [name, { DataType = "", StringValue = "", BinaryValue }] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType);
    bytes += BinaryValue?.byteLength ?? Buffer.byteLength(StringValue);
  }
  return bytes;
}

function checkName(name: string): void {
  if (name.length <= MAX_NAME_LENGTH && ATTRIBUTE_NAME.test(name)) return;
  throw invalidParameter(
    `Message (user) attribute name '${name}' is invalid: 1 to 256 letters, digits, '_', '-' and single inner '.', not starting with AWS. or Amazon.`,
  );
}

function checkValue(name: string, { DataType, StringValue, BinaryValue }: MessageAttribute): void {
  if (DataType === undefined || DataType.length > MAX_NAME_LENGTH || !DATA_TYPE.test(DataType)) {
    throw invalidParameter(`The type of message (user) attribute '${name}' is invalid.`);
  }
  const isBinary = DataType.startsWith("Binary");
  const value = isBinary ? BinaryValue : StringValue;
  if (value === undefined || value.length === 0) {
    throw invalidParameter(
      `Message (user) attribute '${name}' must contain a non-empty value of type '${isBinary ? "Binary" : "String"}'.`,
    );
  }
  if (typeof value !== "string") return;
  if (!ALLOWED_TEXT.test(value)) throw invalidParameter(WRONG_TEXT);
  if (DataType.startsWith("Number") && !NUMBER.test(value)) {
    throw invalidParameter(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
}
