/** A message as a receiver gets it, with the attributes that the receiver asked for. */
import { copyOfAttributes, type QueuedMessage, type SqsMessageAttributes } from "./message.ts";
import { digestOfAttributes, digestOfBody } from "./message-digest.ts";
import type { ReceivedMessage, ReceiveRequest } from "./operations.ts";
import type { Queue } from "./queue.ts";
import { receiptHandle } from "./receipt-handle.ts";

const SENDER_ID = "AIDAEXAMPLESENDER0001";

export function receivedMessage(
  queue: Queue,
  message: QueuedMessage,
  request: ReceiveRequest,
): ReceivedMessage {
  const system = systemAttributes(message, [
    ...(request.AttributeNames ?? []),
    ...(request.MessageSystemAttributeNames ?? []),
  ]);
  const attributes = selectAttributes(message.attributes, request.MessageAttributeNames ?? []);
  // The digest covers the attributes that are returned, and not all attributes of the message.
  const digest = digestOfAttributes(attributes);
  return {
    MessageId: message.id,
    ReceiptHandle: receiptHandle(queue, message),
    Body: message.body,
    MD5OfBody: digestOfBody(message.body),
    ...(Object.keys(system).length > 0 && { Attributes: system }),
    ...(digest !== undefined && { MessageAttributes: attributes, MD5OfMessageAttributes: digest }),
  };
}

function systemAttributes(message: QueuedMessage, names: readonly string[]): Record<string, string> {
  const all: Readonly<Record<string, string | number | undefined>> = {
    ApproximateFirstReceiveTimestamp: message.firstReceivedAt,
    ApproximateReceiveCount: message.receiveCount,
    AWSTraceHeader: message.traceHeader,
    DeadLetterQueueSourceArn: message.deadLetterSourceArn,
    MessageDeduplicationId: message.deduplicationId,
    MessageGroupId: message.groupId,
    SenderId: SENDER_ID,
    SentTimestamp: message.sentAt,
    SequenceNumber: message.sequenceNumber,
  };
  const isAsked = (name: string) => names.includes("All") || names.includes(name);
  const asked: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && isAsked(name)) asked[name] = String(value);
  }
  return asked;
}

/** `All` and `.*` select all attributes, `name.*` those whose names start so. */
function selectAttributes(attributes: SqsMessageAttributes, names: readonly string[]): SqsMessageAttributes {
  const isAsked = (name: string) =>
    names.some(
      (asked) =>
        asked === name || asked === "All" || (asked.endsWith(".*") && name.startsWith(asked.slice(0, -2))),
    );
  const entries = Object.entries(attributes).filter(([name]) => isAsked(name));
  return copyOfAttributes(Object.fromEntries(entries));
}
