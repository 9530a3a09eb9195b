/**
 * A message as Lambda passes it to a function. Pure.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
 */
import type { MessageAttribute } from "../sqs/message.ts";
import type { ReceivedMessage } from "../sqs/operations.ts";

/** The fields that the event source itself needs afterwards. */
export interface SqsEventRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly attributes: { readonly MessageGroupId?: string };
}

export function sqsRecord(message: ReceivedMessage, queueArn: string, region: string): SqsEventRecord {
  const record = {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, attributeOf(value)]),
    ),
    md5OfBody: message.MD5OfBody,
    ...(message.MD5OfMessageAttributes && { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: "aws:sqs",
    eventSourceARN: queueArn,
    awsRegion: region,
  };
  return record;
}

function attributeOf({ StringValue, BinaryValue, DataType }: MessageAttribute): object {
  return {
    ...(StringValue !== undefined && { stringValue: StringValue }),
    ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  };
}
