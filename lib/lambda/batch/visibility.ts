/** Hides messages until somebody else's lease has ended. */
import { LONGEST_INVOCATION_SECONDS } from "../../contract.ts";
import type { Clock } from "../../core/clock.ts";
import type { BatchOptions } from "./batch-options.ts";
import type { Lane } from "./item.ts";

/**
 * SQS counts the 12 hours it allows from the receive. The receive was before the event came, by a batching window and
 * a full invocation at most.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
 */
const MAX_HIDDEN_SECONDS = 12 * 3600 - 300 - LONGEST_INVOCATION_SECONDS;

/**
 * One request: a FIFO batch has ten messages at most, and so has the request.
 * @throws what `changeVisibility` throws, and Error where it answers that some entries failed: these messages then come
 * back after the visibility timeout of their queue.
 */
export async function hideUntil(
  leaseEndsAt: number,
  lane: Lane,
  clock: Clock,
  changeVisibility: NonNullable<BatchOptions["changeVisibility"]>,
): Promise<void> {
  const receipts = lane.flatMap(({ receipt }) => receipt ?? []);
  if (receipts[0] === undefined) return;
  // A claim may win only after the lease, so the second in which it ends is part of it.
  const seconds = Math.floor((leaseEndsAt - clock.now()) / 1000) + 1;
  const VisibilityTimeout = Math.min(MAX_HIDDEN_SECONDS, Math.max(0, seconds));
  const answer = await changeVisibility({
    QueueUrl: receipts[0].queueUrl,
    Entries: receipts.map(({ handle }, index) => ({
      Id: `${index}`,
      ReceiptHandle: handle,
      VisibilityTimeout,
    })),
  });
  refuseFailed(answer);
}

/** SQS answers for each entry: a request can succeed of which every entry failed. */
function refuseFailed(answer: unknown): void {
  const { Failed } = Object(answer) as { readonly Failed?: readonly { readonly Code?: unknown }[] };
  if (!Array.isArray(Failed) || Failed.length === 0) return;
  const codes = [...new Set(Failed.map((each) => String(Object(each).Code)))];
  throw new Error(
    `${Failed.length} messages could not be hidden (${codes}): they come back sooner, and use up receives`,
  );
}
