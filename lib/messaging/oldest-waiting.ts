/**
 * Finds the commit that has waited longest. The index orders failed commits by their next try, so the sweeper must
 * remember when each was made.
 */
import type { Outbox, Unsent } from "../core/messages/outbox.ts";

const MAX_REMEMBERED = 1000;

/** The most commits that one answer looks up. */
const MAX_LOOKS = 5;

export class OldestWaiting {
  readonly #outbox: Outbox;
  readonly #committedAt = new Map<string, number>();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  note({ recordKey, committedAt }: Pick<Unsent, "recordKey" | "committedAt">): void {
    if (this.#committedAt.size < MAX_REMEMBERED) this.#committedAt.set(recordKey, committedAt);
  }

  forget(recordKey: string): void {
    this.#committedAt.delete(recordKey);
  }

  /** Epoch ms; `undefined` if none is known. */
  async committedAt(): Promise<number | undefined> {
    const all = [...this.#committedAt].sort(([, a], [, b]) => a - b);
    for (const [recordKey, committedAt] of all.slice(0, MAX_LOOKS)) {
      const unsent = await this.#outbox.load(recordKey).catch(() => undefined);
      // Another sender may have sent the commit, or parked it.
      if (unsent && unsent.shard >= 0) return committedAt;
      this.#committedAt.delete(recordKey);
    }
    return undefined;
  }
}
