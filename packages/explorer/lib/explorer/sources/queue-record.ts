/**
 * Messages in a function's event, and the requests that send them. Pure.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
 */
import type { MessageAttribute, SqsMessageAttributes } from "../../aws/sqs/message.ts";
import type { SendRequest } from "../../aws/sqs/operations.ts";

interface AttributeOfRecord {
  readonly stringValue?: string | undefined;
  readonly binaryValue?: string | undefined;
  readonly dataType?: string | undefined;
}

export interface QueueRecord {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, string | undefined>> | undefined;
  readonly messageAttributes?: Readonly<Record<string, AttributeOfRecord>> | undefined;
  readonly eventSourceARN?: string | undefined;
  readonly awsRegion?: string | undefined;
}

const DEFAULT_NAME = "queue";

export function queueNameOf(records: readonly QueueRecord[]): string {
  const isFifo = records.some(({ attributes }) => attributes?.MessageGroupId !== undefined);
  return records[0]?.eventSourceARN?.split(":").at(-1) ?? (isFifo ? `${DEFAULT_NAME}.fifo` : DEFAULT_NAME);
}

/** The message that becomes this record. */
export function outgoingOf(record: QueueRecord, queueName: string, index: number): SendRequest {
  const { MessageGroupId, MessageDeduplicationId } = record.attributes ?? {};
  const attributes = Object.entries(record.messageAttributes ?? {}).map(([name, each]) => [
    name,
    sentAttribute(each),
  ]);
  return {
    MessageBody: record.body,
    ...(attributes.length > 0 && {
      MessageAttributes: Object.fromEntries(attributes) as SqsMessageAttributes,
    }),
    ...(queueName.endsWith(".fifo") && {
      MessageGroupId: MessageGroupId ?? "group",
      MessageDeduplicationId: MessageDeduplicationId ?? `message-${index + 1}`,
    }),
  };
}

export function regionOf(records: readonly QueueRecord[]): string {
  return records[0]?.awsRegion ?? "us-east-1";
}

export function arnOf(records: readonly QueueRecord[]): string {
  return (
    records[0]?.eventSourceARN ?? `arn:aws:sqs:${regionOf(records)}:000000000000:${queueNameOf(records)}`
  );
}

function sentAttribute({ stringValue, binaryValue, dataType }: AttributeOfRecord): MessageAttribute {
  return binaryValue === undefined
    ? { DataType: dataType ?? "String", StringValue: stringValue ?? "" }
    : { DataType: dataType ?? "Binary", BinaryValue: new Uint8Array(Buffer.from(binaryValue, "base64")) };
}
