/** Messages of SQS: a lane for each message of a standard queue, one for each group of a FIFO queue. */
import { hashTuple } from "../../core/identity.ts";
import { queueUrlOfArn } from "../../core/messages/address.ts";
import { readEnvelope } from "../../messaging/envelope.ts";
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { BatchItem, Lane, Receipt } from "./item.ts";

export interface SqsRecord {
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

export function sqsLanes(records: readonly SqsRecord[], forwardedBy?: Forwarders): Lane[] {
  const lanes = new Map<string, BatchItem[]>();
  for (const record of records) {
    const { messageId, attributes, messageAttributes, body, eventSourceARN = "" } = record;
    const envelope = readEnvelope(messageAttributes);
    if (!envelope.found && isS3TestEvent(body)) continue;
    const item: BatchItem = {
      record,
      identifier: messageId,
      ...messageOf(envelope, body, body, forwardedBy),
      ownKey: ownKeyOf(record),
      isOwnKeyFallback: true,
      receipt: receiptOf(record),
    };
    const group = attributes?.MessageGroupId;
    // A standard queue may have groups too (fair queues): they promise no order, and none waits for another.
    const isFifo = eventSourceARN === "" ? group !== undefined : eventSourceARN.endsWith(".fifo");
    const name = isFifo ? `group:${group}` : `message:${messageId}`;
    const lane = lanes.get(name);
    if (lane === undefined) lanes.set(name, [item]);
    else lane.push(item);
  }
  return [...lanes.values()];
}

/**
 * Whether S3 wrote the message to see whether it may, when somebody configured its notifications. It asks for nothing, and a handler
 * that reads `Records` would fail until it is a dead letter. Only the exact message is meant, alone or in a notification of SNS.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
function isS3TestEvent(body: string): boolean {
  if (!`${body}`.includes("s3:TestEvent")) return false;
  try {
    const parsed = JSON.parse(body);
    const { Type, TopicArn, Message } = parsed;
    const event = Type === "Notification" && typeof TopicArn === "string" ? JSON.parse(Message) : parsed;
    const isOfS3 = event.Service === "Amazon S3" && event.Event === "s3:TestEvent";
    return isOfS3 && Object.keys(event).sort().join() === "Bucket,Event,HostId,RequestId,Service,Time";
  } catch {
    return false;
  }
}

/** A deduplication id names a message within its queue, or only within its group, as the queue is configured. */
function ownKeyOf({ messageId, attributes, eventSourceARN = "" }: SqsRecord): string {
  const { MessageDeduplicationId, MessageGroupId } = attributes ?? {};
  if (MessageDeduplicationId === undefined) return messageId;
  return hashTuple("onceonly/sqs/1", eventSourceARN, MessageGroupId ?? "", MessageDeduplicationId);
}

function receiptOf({ eventSourceARN = "", receiptHandle }: SqsRecord): Receipt | undefined {
  const queueUrl = queueUrlOfArn(eventSourceARN);
  return queueUrl && receiptHandle ? { queueUrl, handle: receiptHandle } : undefined;
}
