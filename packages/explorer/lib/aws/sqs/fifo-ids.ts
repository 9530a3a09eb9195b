/** The message group id and the deduplication id of a message that is sent. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
import { createHash } from "node:crypto";
import type { SendRequest } from "./operations.ts";
import type { Queue } from "./queue.ts";
import { invalidParameter, invalidValue, missingParameter, type SqsError } from "./sqs-error.ts";

/** Letters, digits and ASCII punctuation. */
const ID = /^[!-~]{1,128}$/;

export interface FifoIds {
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
}

/** Refuses missing ids; in a batch a missing id refuses the whole request. */
export function missingFifoId(queue: Queue, message: SendRequest): SqsError | undefined {
  if (!queue.isFifo) return undefined;
  if (message.MessageGroupId === undefined) return missingParameter("MessageGroupId");
  if (message.MessageDeduplicationId !== undefined || isContentBased(queue)) return undefined;
  return invalidParameter(
    "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
  );
}

/** Standard queues accept a group id too (fair queues), but no deduplication id. */
export function fifoIdsOf(queue: Queue, message: SendRequest): FifoIds {
  const { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId, MessageBody } = message;
  checkId("MessageGroupId", groupId);
  checkId("MessageDeduplicationId", deduplicationId);
  if (queue.isFifo) return { groupId, deduplicationId: deduplicationId ?? contentId(MessageBody) };
  if (deduplicationId === undefined) return { groupId };
  throw invalidValue(
    "MessageDeduplicationId",
    deduplicationId,
    "The request include parameter that is not valid for this queue type.",
  );
}

function isContentBased(queue: Queue): boolean {
  return queue.attributes.ContentBasedDeduplication === "true";
}

/** A hash of the body only: attributes make no difference. */
function contentId(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

function checkId(parameter: string, id: string | undefined): void {
  if (id === undefined || ID.test(id)) return;
  throw invalidValue(
    parameter,
    id,
    `${parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  );
}
