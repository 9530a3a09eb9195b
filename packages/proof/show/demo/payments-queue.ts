// The payments queue as senders see it, at an address of the demo's own. There each send is written down, and the answer
// to some is lost. Receivers use the queue itself.
import type { Carry } from "../../../../test/kit/faults/middleman.ts";
import { fractionOf } from "./random.ts";
import { RECEIPT_QUEUES } from "./receipts.ts";

/** A message that the queue accepted, or had accepted before and dropped. */
export interface Send {
  readonly orderId: string;
  /** The same for a dropped message as for the one that it repeats. */
  readonly messageId: string;
  readonly deduplicationId: string;
  readonly isDropped: boolean;
}

export interface PaymentsQueue {
  readonly carry: Carry;
  /** The queue that messages for it go to. */
  leadTo(queueUrl: string): void;
  readonly sends: readonly Send[];
  /** Requests whose answer was cut off after the queue had accepted them. */
  readonly lostAnswers: number;
}

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageDeduplicationId: string;
}

export function paymentsQueue(seed: number, lostShare: number): PaymentsQueue {
  const sends: Send[] = [];
  const accepted = new Set<string>();
  const tries = new Map<string, number>();
  let queueUrl = "";
  let lostAnswers = 0;

  function isLost(ids: string): boolean {
    const times = (tries.get(ids) ?? 0) + 1;
    tries.set(ids, times);
    return fractionOf(String(seed), "send", ids, String(times)) < lostShare;
  }

  async function carry(request: Parameters<Carry>[0], handOn: Parameters<Carry>[1]) {
    // Consumers ask at this address too, to hide messages.
    if (request.headers["x-amz-target"] !== "AmazonSQS.SendMessageBatch") return handOn(request);
    const input = JSON.parse(request.body) as { QueueUrl?: string; Entries: readonly Entry[] };
    if (isForReceipts(input.QueueUrl)) return handOn(request);
    const body = JSON.stringify({ ...input, QueueUrl: queueUrl });
    const answer = await handOn({ ...request, body });
    const { Successful = [] } = JSON.parse(answer.body) as {
      Successful?: { Id: string; MessageId: string }[];
    };
    for (const { Id, MessageId: messageId } of Successful) {
      const { MessageBody, MessageDeduplicationId: deduplicationId } = entryOf(input.Entries, Id);
      const { orderId } = JSON.parse(MessageBody) as { orderId: string };
      sends.push({ orderId, messageId, deduplicationId, isDropped: accepted.has(messageId) });
      accepted.add(messageId);
    }
    if (!isLost(input.Entries.map(({ MessageDeduplicationId }) => MessageDeduplicationId).join())) {
      return answer;
    }
    lostAnswers++;
    return "no-answer" as const;
  }

  return {
    carry,
    leadTo(url) {
      queueUrl = url;
    },
    sends,
    get lostAnswers() {
      return lostAnswers;
    },
  };
}

function isForReceipts(queueUrl: string | undefined): boolean {
  return Object.values(RECEIPT_QUEUES).some((name) => queueUrl?.endsWith(`/${name}`));
}

function entryOf(entries: readonly Entry[], id: string): Entry {
  return entries.find(({ Id }) => Id === id)!;
}
