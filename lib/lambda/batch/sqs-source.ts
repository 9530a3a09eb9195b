/** SQS messages: a lane for each message of a standard queue, one for each group of a FIFO queue. */
import { hashTuple } from "../../core/identity.ts";
import { queueUrlOfArn } from "../../core/messages/address.ts";
import { readEnvelope } from "../../messaging/envelope.ts";
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { BatchItem, Lane, Receipt } from "./item.ts";
import { isS3Test } from "./s3-changes.ts";

interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle?: string;
  readonly body: string;
  readonly attributes?: {
    readonly MessageGroupId?: string | undefined;
    readonly MessageDeduplicationId?: string | undefined;
  };
  readonly messageAttributes?: Readonly<Record<string, unknown>>;
  readonly eventSourceARN?: string;
}

export function sqsLanes(records: readonly SqsRecord[], trustedForwarders?: Forwarders): Lane[] {
  const lanes = new Map<string, BatchItem[]>();
  for (const record of records) {
    const { messageId, attributes, messageAttributes, body, eventSourceARN = "" } = record;
    const envelope = readEnvelope(messageAttributes);
    if (!envelope.found && isS3TestEvent(body)) continue;
    const item: BatchItem = {
      record,
      identifier: messageId,
      ...messageOf(envelope, body, body, trustedForwarders),
      ownKey: ownKeyOf(record),
      isOwnKeyFallback: true,
      receipt: receiptOf(record),
    };
    const group = attributes?.MessageGroupId;
    // A standard queue may have groups too (fair queues): they guarantee no order, so their messages don't wait.
    const isFifo = eventSourceARN === "" ? group !== undefined : eventSourceARN.endsWith(".fifo");
    const name = isFifo ? `group:${group}` : `message:${messageId}`;
    const lane = lanes.get(name);
    if (lane === undefined) lanes.set(name, [item]);
    else lane.push(item);
  }
  return [...lanes.values()];
}

/**
 * Whether this is S3's test message, bare or in an SNS notification. It isn't an event, and a handler that reads `Records`
 * would fail until it is a dead letter.
 */
function isS3TestEvent(body: string): boolean {
  if (!`${body}`.includes("s3:TestEvent")) return false;
  try {
    const parsed = JSON.parse(body);
    const { Type, TopicArn, Message } = parsed;
    return isS3Test(Type === "Notification" && typeof TopicArn === "string" ? JSON.parse(Message) : parsed);
  } catch {
    return false;
  }
}

/** A deduplication id identifies a message within its queue or within its group, depending on the queue's configuration. */
function ownKeyOf({ messageId, attributes, eventSourceARN = "" }: SqsRecord): string {
  const { MessageDeduplicationId, MessageGroupId } = attributes ?? {};
  if (MessageDeduplicationId === undefined) return messageId;
  return hashTuple("onceonly/sqs/1", eventSourceARN, MessageGroupId ?? "", MessageDeduplicationId);
}

function receiptOf({ eventSourceARN = "", receiptHandle }: SqsRecord): Receipt | undefined {
  const queueUrl = queueUrlOfArn(eventSourceARN);
  return queueUrl && receiptHandle ? { queueUrl, handle: receiptHandle } : undefined;
}
