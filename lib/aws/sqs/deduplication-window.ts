/** Which deduplication ids a FIFO queue accepted in the last five minutes, whatever became of their messages. */

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
  /** In the order of acceptance: what lapses first is in front. */
  readonly #accepted = new Map<string, AcceptedMessage & { readonly at: number }>();

  /** The message that was accepted under this key, while the window lasts. */
  find(key: DeduplicationKey, now: number): AcceptedMessage | undefined {
    this.#forgetLapsed(now);
    return this.#accepted.get(textOf(key));
  }

  /** The window opens with the first acceptance; duplicates do not prolong it. */
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
