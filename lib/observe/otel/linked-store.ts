/**
 * The store port over a store that remembers which execution each returned record came from, to link a replay to its original.
 */
import type { IdempotencyRecord } from "../../core/record.ts";
import type { Insertion, Settlement, Store } from "../../core/store.ts";
import { ResultStore } from "../../stores/result-store.ts";
import { traceOfToken } from "./trace-token.ts";

/** How many records are remembered: the most recent ones. */
const MAX_ORIGINALS = 1000;

/** Trace contexts of executions, by the hash of their key. */
export class Originals {
  readonly #traces = new Map<string, string>();

  note(recordKey: string, token: string): void {
    const keyHash = recordKey.slice(recordKey.lastIndexOf("#") + 1);
    const trace = traceOfToken(token);
    this.#traces.delete(keyHash);
    if (trace === undefined) return;
    this.#traces.set(keyHash, trace);
    const [oldest] = this.#traces.keys();
    if (this.#traces.size > MAX_ORIGINALS && oldest !== undefined) this.#traces.delete(oldest);
  }

  of(keyHash: string | undefined): string | undefined {
    return keyHash === undefined ? undefined : this.#traces.get(keyHash);
  }
}

export class LinkedStore<Write> extends ResultStore<Write> {
  readonly #originals: Originals;

  constructor(store: Store<Write>, originals: Originals) {
    super(store);
    this.#originals = originals;
  }

  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new LinkedStore(change(this.store), this.#originals);
  }

  protected override asTold(recordKey: string, record: IdempotencyRecord): IdempotencyRecord {
    this.#originals.note(recordKey, record.token);
    return record;
  }

  protected override async storedText({
    result,
  }: Settlement<Write> | Insertion<Write>): Promise<string | undefined> {
    return result;
  }
}
