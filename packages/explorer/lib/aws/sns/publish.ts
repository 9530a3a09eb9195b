/**
 * Publish and PublishBatch: checks, deduplication, and a notification for each subscription whose filter
 * matches.
 */
import { createHash } from "node:crypto";
import { copyOfAttributes } from "../sqs/message.ts";
import { bytesOf } from "../sqs/message-checks.ts";
import { isWanted, type SnsNotification } from "./notification.ts";
import type { Published, PublishedMessage, SnsOperations } from "./operations.ts";
import type { SnsService } from "./service.ts";
import { invalidParameter, SnsError } from "./sns-error.ts";
import type { Topic } from "./topic.ts";

const MAX_ENTRIES = 10;
const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/;
/** Letters, digits and ASCII punctuation. */
const FIFO_ID = /^[!-~]{1,128}$/;

export function publish(service: SnsService, topic: Topic, message: PublishedMessage): Published {
  if (!message.Message) throw invalidParameter("Empty message");
  if (sizeOf(message) > topic.maxBytes) throw invalidParameter("Message too long");
  checkIds(topic, message);
  const now = service.now();
  const deduplicationId = message.MessageDeduplicationId ?? contentId(message.Message);
  const key = {
    scope: "queue",
    groupId: message.MessageGroupId ?? "",
    deduplicationId,
  } as const;
  const former = topic.isFifo ? topic.window.find(key, now) : undefined;
  if (former) return { MessageId: former.messageId, SequenceNumber: former.sequenceNumber };

  const messageId = service.newId();
  const sequenceNumber = topic.isFifo ? service.newSequenceNumber() : undefined;
  if (sequenceNumber) topic.window.open(key, { messageId, sequenceNumber }, now);
  const { MessageAttributes } = message;
  const notification: SnsNotification = {
    ...message,
    ...(MessageAttributes && { MessageAttributes: copyOfAttributes(MessageAttributes) }),
    ...(topic.isFifo && { MessageDeduplicationId: deduplicationId }),
    topicArn: topic.arn,
    messageId,
    sequenceNumber,
    publishedAt: now,
  };
  service.published.push(notification);
  for (const subscription of topic.subscriptions.values()) {
    if (isWanted(notification, subscription)) service.deliver(notification, subscription);
  }
  return { MessageId: messageId, ...(sequenceNumber && { SequenceNumber: sequenceNumber }) };
}

export function publishBatch(
  service: SnsService,
  topic: Topic,
  entries: SnsOperations["PublishBatch"]["input"]["PublishBatchRequestEntries"],
): SnsOperations["PublishBatch"]["output"] {
  // The query protocol sends an empty list as an empty text.
  checkEntries(Array.isArray(entries) ? entries : [], topic.maxBytes);
  const Successful: (Published & { Id: string })[] = [];
  const Failed: { Id: string; Code: string; Message: string; SenderFault: boolean }[] = [];
  for (const { Id, ...message } of entries) {
    try {
      Successful.push({ Id, ...publish(service, topic, message) });
    } catch (error) {
      if (!(error instanceof SnsError)) throw error;
      Failed.push({ Id, Code: error.code, Message: error.message, SenderFault: true });
    }
  }
  return { Successful, Failed };
}

function checkEntries(
  entries: readonly (PublishedMessage & { readonly Id: string })[],
  maxBytes: number,
): void {
  const ids = new Set(entries.map(({ Id }) => Id));
  const refuse = (code: ConstructorParameters<typeof SnsError>[0], isWrong: boolean) => {
    if (isWrong) throw new SnsError(code, `The batch request is refused: ${code}`);
  };
  refuse("EmptyBatchRequest", entries.length === 0);
  refuse("TooManyEntriesInBatchRequest", entries.length > MAX_ENTRIES);
  refuse("InvalidBatchEntryId", ![...ids].every((id) => ENTRY_ID.test(id)));
  refuse("BatchEntryIdsNotDistinct", ids.size < entries.length);
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  refuse("BatchRequestTooLong", bytes > maxBytes);
}

/** Standard topics accept a group id too: subscribed queues use it to share consumers fairly. */
function checkIds(topic: Topic, { MessageGroupId, MessageDeduplicationId }: PublishedMessage): void {
  for (const id of [MessageGroupId, MessageDeduplicationId]) {
    if (id !== undefined && !FIFO_ID.test(id)) throw invalidParameter("ids have 1 to 128 characters");
  }
  if (!topic.isFifo) {
    if (MessageDeduplicationId === undefined) return;
    throw invalidParameter(
      "The request includes MessageDeduplicationId parameter that is not valid for this topic type",
    );
  }
  if (MessageGroupId === undefined)
    throw invalidParameter("The MessageGroupId parameter is required for FIFO topics");
  if (MessageDeduplicationId !== undefined || topic.isContentBased) return;
  throw invalidParameter(
    "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
  );
}

function sizeOf({ Message = "", MessageAttributes = {} }: PublishedMessage): number {
  return bytesOf(Message, MessageAttributes);
}

function contentId(message: string): string {
  return createHash("sha256").update(message).digest("hex");
}
