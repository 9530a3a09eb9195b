/** Sends messages in as few requests as the order within each group allows, and failed entries again. */
import type { BatchResultErrorEntry, SendMessageBatchResult } from "@aws-sdk/client-sqs";
import type { Clock, Random } from "../core/clock.ts";
import type { SendResult } from "../core/errors.ts";
import type { PreparedMessage } from "./fifo-message.ts";
import { GroupLines, type Waiting } from "./group-lines.ts";

export interface SendingRules {
  readonly maxTries: number;
  readonly clock: Clock;
  readonly random: Random;
}

export type BatchEntry = PreparedMessage & { readonly Id: string };

export interface Sending {
  /** In the order of the messages. */
  readonly results: readonly SendResult[];
  /** What the client threw for a request as a whole. */
  readonly cause?: unknown;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/**
 * A message whose entry failed for good keeps the rest of its group from being sent. A request that fails as a whole
 * ends it all: the client has already tried it again by its own rules.
 */
export async function sendInOrder(
  messages: readonly PreparedMessage[],
  request: (entries: BatchEntry[]) => Promise<SendMessageBatchResult>,
  { maxTries, clock, random }: SendingRules,
): Promise<Sending> {
  const lines = new GroupLines(messages);
  const results = messages.map((): SendResult => ({ sent: false, code: "NotAttempted" }));
  const tries = messages.map(() => 0);

  for (let heads = lines.heads(); heads.length > 0; heads = lines.heads()) {
    let answer: SendMessageBatchResult;
    try {
      answer = await request(heads.map(entryOf));
    } catch (cause) {
      for (const { position } of heads) results[position] = { sent: false, code: codeOf(cause) };
      return { results, cause };
    }
    let retried = 0;
    for (const head of heads) {
      const { result, mayPass } = readAnswer(answer, head);
      const tried = tries[head.position]! + 1;
      tries[head.position] = tried;
      results[head.position] = result;
      if (result.sent) lines.advance(head);
      else if (mayPass && tried < maxTries) retried = Math.max(retried, tried);
      else lines.stop(head);
    }
    if (retried > 0) await clock.sleep(delayAfter(retried, random.fraction()));
  }
  return { results };
}

function entryOf({ position, message }: Waiting): BatchEntry {
  return { Id: String(position), ...message };
}

function readAnswer(answer: SendMessageBatchResult, { position }: Waiting) {
  const id = String(position);
  const sent = answer.Successful?.find(({ Id }) => Id === id);
  if (sent !== undefined) {
    const { MessageId: messageId = "", SequenceNumber: sequenceNumber = "" } = sent;
    return { result: { sent: true, messageId, sequenceNumber } as const, mayPass: false };
  }
  const failed = answer.Failed?.find(({ Id }) => Id === id);
  const code = failed?.Code ?? "NoAnswer";
  return { result: { sent: false, code } as const, mayPass: failed === undefined || mayPassLater(failed) };
}

/** AWS's errors have telling names; those of Node are called `Error` and have a code. */
function codeOf(cause: unknown): string {
  const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
  return [name === "Error" ? code : name, name, "Error"].find((text) => typeof text === "string") as string;
}

/** Throttling, by SQS or by KMS, may count as the sender's fault and still passes. */
function mayPassLater({ SenderFault, Code = "" }: BatchResultErrorEntry): boolean {
  return !SenderFault || /throttl/i.test(Code);
}

/** Full jitter below a doubling bound. */
function delayAfter(tries: number, fraction: number): number {
  return fraction * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
}
