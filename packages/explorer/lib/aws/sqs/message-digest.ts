/**
 * The MD5 digests in SQS's answers, which the SDKs compare with their own:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html#sqs-attributes-md5-message-digest-calculation
 */
import { createHash } from "node:crypto";
import type { SqsMessageAttributes } from "./message.ts";

const STRING_VALUE = 1;
const BINARY_VALUE = 2;

export function digestOfBody(body: string): string {
  return createHash("md5").update(body).digest("hex");
}

/** `undefined` without attributes: such a response has no digest for them. */
export function digestOfAttributes(attributes: SqsMessageAttributes): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash("md5");
  const addWithLength = (bytes: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const { DataType = "", StringValue, BinaryValue } = attributes[name] ?? {};
    addWithLength(Buffer.from(name));
    addWithLength(Buffer.from(DataType));
    hash.update(Buffer.of(BinaryValue === undefined ? STRING_VALUE : BINARY_VALUE));
    addWithLength(BinaryValue ?? Buffer.from(StringValue ?? ""));
  }
  return hash.digest("hex");
}
