/** Hides messages until another attempt's lease has ended. */
import { LONGEST_INVOCATION_SECONDS } from "../../contract.ts";
import type { Clock } from "../../core/clock.ts";
import type { BatchOptions } from "./batch-options.ts";
import type { Lane } from "./item.ts";

/**
 * SQS counts the 12 hours that it allows from the receive, which is at most a batching window and a full invocation
 * earlier than the event.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
 */
const MAX_HIDDEN_SECONDS = 12 * 3600 - 300 - LONGEST_INVOCATION_SECONDS;

/**
 * Sends one request: a FIFO batch has at most ten messages, and so has the request.
 * @throws the errors of `changeVisibility`, and Error if it reports failed entries: those messages then come back after
 * their queue's visibility timeout.
 */
export async function hideUntil(
  leaseEndsAt: number,
  lane: Lane,
  clock: Clock,
  changeVisibility: NonNullable<BatchOptions["changeVisibility"]>,
): Promise<void> {
  const receipts = lane.flatMap(({ receipt }) => receipt ?? []);
  if (receipts[0] === undefined) return;
  // A claim can win only after the lease, so include the second in which it ends.
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

/** SQS reports each entry: a request can succeed although every entry failed. */
function refuseFailed(answer: unknown): void {
  const { Failed } = Object(answer) as { readonly Failed?: readonly { readonly Code?: unknown }[] };
  if (!Array.isArray(Failed) || Failed.length === 0) return;
  const codes = [...new Set(Failed.map((each) => String(Object(each).Code)))];
  throw new Error(
    `${Failed.length} messages could not be hidden (${codes}): SQS will deliver them sooner, which counts towards maxReceiveCount`,
  );
}
