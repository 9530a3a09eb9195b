/**
 * The deduplication ids that a FIFO queue accepted in the last five minutes, whether or not their messages
 * are still there.
 */

const DEDUPLICATION_WINDOW_MS = 5 * 60 * 1000;

export type DeduplicationScope = "queue" | "messageGroup";

export interface AcceptedMessage {
  readonly messageId: string;
  readonly sequenceNumber: string;
}

export interface DeduplicationKey {
  readonly scope: DeduplicationScope;
  readonly groupId: string;
  readonly deduplicationId: string;
}

export class DeduplicationWindow {
  /** In the order of acceptance: the first entry lapses first. */
  readonly #accepted = new Map<string, AcceptedMessage & { readonly at: number }>();

  /** The message that was accepted under this key, if its window is still open. */
  find(key: DeduplicationKey, now: number): AcceptedMessage | undefined {
    this.#forgetLapsed(now);
    return this.#accepted.get(textOf(key));
  }

  /** The window opens with the first acceptance; a duplicate does not prolong it. */
  open(key: DeduplicationKey, accepted: AcceptedMessage, now: number): void {
    this.#accepted.set(textOf(key), { ...accepted, at: now });
  }

  clear(): void {
    this.#accepted.clear();
  }

  #forgetLapsed(now: number): void {
    for (const [key, { at }] of this.#accepted) {
      if (now - at < DEDUPLICATION_WINDOW_MS) return;
      this.#accepted.delete(key);
    }
  }
}

function textOf({ scope, groupId, deduplicationId }: DeduplicationKey): string {
  return JSON.stringify(scope === "queue" ? [deduplicationId] : [deduplicationId, groupId]);
}
