/** What the commits of a MemoryStore have to send, as the Outbox port shows it. A change is the key of a record. */
import { OUTBOX_SHARDS } from "../contract.ts";
import { hashTuple } from "../core/identity.ts";
import type { Outbox, OutboxChange, Unsent } from "../core/outbox.ts";

export class MemoryOutbox implements Outbox {
  readonly #waiting = new Map<string, Unsent>();
  readonly #onSent: (unsent: Unsent) => void;

  /** `onSent` is called once for each commit whose messages are sent. */
  constructor(onSent: (unsent: Unsent) => void) {
    this.#onSent = onSent;
  }

  /** Part of the store's one atomic decision. */
  keep(unsent: Unsent): void {
    this.#waiting.set(unsent.recordKey, structuredClone(unsent));
  }

  /** Keys of the records that wait, in the order of their commits: what a stream of changes would hand on. */
  get changes(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  readChange(change: unknown): OutboxChange | undefined {
    const unsent = this.#waiting.get(String(change));
    return unsent && structuredClone({ ...unsent, unsent });
  }

  async load(recordKey: string): Promise<Unsent | undefined> {
    return structuredClone(this.#waiting.get(recordKey));
  }

  async *findUnsent(shard: number, before: number): AsyncGenerator<readonly string[]> {
    const found = [...this.#waiting.values()].filter(
      (unsent) => shardOf(unsent) === shard && unsent.committedAt < before,
    );
    yield found.sort((a, b) => a.committedAt - b.committedAt).map(({ recordKey }) => recordKey);
  }

  async markSent({ recordKey, token }: Unsent): Promise<void> {
    const waiting = this.#waiting.get(recordKey);
    if (waiting?.token !== token) return;
    this.#waiting.delete(recordKey);
    this.#onSent(waiting);
  }
}

function shardOf({ messages: [first] }: Unsent): number {
  const { group, key } = first as { readonly group?: string; readonly key: string };
  return hashTuple(group ?? key).charCodeAt(0) % OUTBOX_SHARDS;
}
