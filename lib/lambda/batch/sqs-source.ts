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
    const item: BatchItem = {
      record,
      identifier: messageId,
      ...messageOf(readEnvelope(messageAttributes), body, body, forwardedBy),
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
