/**
 * Accepts one message into one queue: checks, deduplication, answer. SendMessage and SendMessageBatch share
 * it.
 */
import { fifoIdsOf } from "./fifo-ids.ts";
import { copyOfAttributes, type SqsMessageAttributes } from "./message.ts";
import { bytesOf, checkAttributes, checkBody } from "./message-checks.ts";
import { digestOfAttributes, digestOfBody } from "./message-digest.ts";
import type { SendAnswer, SendRequest } from "./operations.ts";
import type { Queue } from "./queue.ts";
import type { SqsService } from "./service.ts";
import { invalidParameter, invalidValue } from "./sqs-error.ts";

const MAX_DELAY_SECONDS = 900;

/** A duplicate gets the answer of the message that it repeats, and is not stored. */
export function acceptMessage(service: SqsService, queue: Queue, message: SendRequest): SendAnswer {
  const { MessageBody: body, MessageAttributes: attributes = {} } = message;
  const systemAttributes = message.MessageSystemAttributes ?? {};
  checkBody(body);
  checkAttributes(attributes);
  checkSystemAttributes(systemAttributes);
  checkSize(queue, body, attributes);
  const ids = fifoIdsOf(queue, message);
  const delaySeconds = delayOf(queue, message.DelaySeconds);

  const now = service.now();
  const key = keyOf(queue, ids);
  const duplicated = key && queue.window.find(key, now);
  const messageId = duplicated?.messageId ?? service.newId();
  const sequenceNumber =
    duplicated?.sequenceNumber ?? (queue.isFifo ? service.newSequenceNumber() : undefined);
  if (duplicated === undefined) {
    if (key && sequenceNumber) queue.window.open(key, { messageId, sequenceNumber }, now);
    queue.add({
      ...ids,
      id: messageId,
      body,
      attributes: copyOfAttributes(attributes),
      traceHeader: systemAttributes.AWSTraceHeader?.StringValue,
      sequenceNumber,
      sentAt: now,
      receiveCount: 0,
      receivesHere: 0,
      visibleAt: now + delaySeconds * 1000,
    });
  }
  const digest = digestOfAttributes(attributes);
  const systemDigest = digestOfAttributes(systemAttributes);
  return {
    MessageId: messageId,
    MD5OfMessageBody: digestOfBody(body),
    ...(digest !== undefined && { MD5OfMessageAttributes: digest }),
    ...(systemDigest !== undefined && { MD5OfMessageSystemAttributes: systemDigest }),
    ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
  };
}

/** The key by which a FIFO queue recognizes a duplicate. */
function keyOf(queue: Queue, { groupId, deduplicationId }: ReturnType<typeof fifoIdsOf>) {
  if (groupId === undefined || deduplicationId === undefined) return undefined;
  const scope = queue.attributes.DeduplicationScope === "messageGroup" ? "messageGroup" : "queue";
  return { scope, groupId, deduplicationId } as const;
}

function checkSystemAttributes(attributes: SqsMessageAttributes): void {
  for (const [name, { DataType, StringValue }] of Object.entries(attributes)) {
    if (name === "AWSTraceHeader" && DataType === "String" && StringValue) continue;
    throw invalidParameter(`Message system attribute name '${name}' is invalid.`);
  }
}

function checkSize(queue: Queue, body: string, attributes: SqsMessageAttributes): void {
  const maxBytes = queue.number("MaximumMessageSize");
  if (bytesOf(body, attributes) <= maxBytes) return;
  throw invalidParameter(
    `One or more parameters are invalid. Reason: Message must be shorter than ${maxBytes} bytes.`,
  );
}

/** In a FIFO queue only the queue itself may set a delay. */
function delayOf(queue: Queue, seconds: number | undefined): number {
  if (seconds === undefined) return queue.number("DelaySeconds");
  if (queue.isFifo && seconds !== 0) {
    throw invalidValue(
      "DelaySeconds",
      seconds,
      "The request include parameter that is not valid for this queue type.",
    );
  }
  if (!(seconds >= 0 && seconds <= MAX_DELAY_SECONDS)) {
    throw invalidValue("DelaySeconds", seconds, `DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}.`);
  }
  return queue.isFifo ? queue.number("DelaySeconds") : seconds;
}
