/**
 * Repeated receives from a FIFO queue with the same ReceiveRequestAttemptId.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
 */
import { isInFlight, type QueuedMessage } from "./message.ts";

const ATTEMPT_WINDOW_MS = 5 * 60 * 1000;

/** The queue that keeps these attempts. */
interface AttemptedQueue {
  readonly isFifo: boolean;
  find(id: string, now: number): QueuedMessage | undefined;
  hideUntil(message: QueuedMessage, visibleAt: number): void;
}

interface ReceiveAttempt {
  readonly at: number;
  readonly messages: readonly QueuedMessage[];
  /** The state after the receive: when a message has changed since, the attempt is over. */
  readonly visibleAt: number;
  readonly receiveCounts: readonly number[];
}

export class ReceiveAttempts {
  readonly #attempts = new Map<string, ReceiveAttempt>();

  note(attemptId: string | undefined, messages: readonly QueuedMessage[], now: number): void {
    if (attemptId === undefined || messages[0] === undefined) return;
    this.#attempts.set(attemptId, {
      at: now,
      messages,
      visibleAt: messages[0].visibleAt,
      receiveCounts: messages.map(({ receiveCount }) => receiveCount),
    });
  }

  /** The messages of the first receive, with the same receipt handles and a fresh visibility timeout. */
  again(
    attemptId: string | undefined,
    queue: AttemptedQueue,
    visibilitySeconds: number,
    now: number,
  ): readonly QueuedMessage[] | undefined {
    const attempt = attemptId === undefined ? undefined : this.#attempts.get(attemptId);
    if (attempt === undefined || attemptId === undefined || !queue.isFifo) return undefined;
    if (now - attempt.at >= ATTEMPT_WINDOW_MS || !isUnchanged(attempt, queue, now)) {
      this.#attempts.delete(attemptId);
      return undefined;
    }
    const visibleAt = now + visibilitySeconds * 1000;
    for (const message of attempt.messages) queue.hideUntil(message, visibleAt);
    this.#attempts.set(attemptId, { ...attempt, visibleAt });
    return attempt.messages;
  }
}

function isUnchanged(
  { messages, visibleAt, receiveCounts }: ReceiveAttempt,
  queue: AttemptedQueue,
  now: number,
): boolean {
  return messages.every(
    (message, index) =>
      queue.find(message.id, now) === message &&
      isInFlight(message, now) &&
      message.visibleAt === visibleAt &&
      message.receiveCount === receiveCounts[index],
  );
}
