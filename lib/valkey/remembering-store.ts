/** A store whose completed records are cached in Valkey. Even if the cache fails, the underlying store decides. */
import type { Clock } from "../core/clock.ts";
import { hasCode } from "../core/error-code.ts";
import { crossChecksOf, FrontStore } from "../core/front-store.ts";
import { type IdempotencyRecord, isKnownVersion } from "../core/record.ts";
import type { CrossCheck } from "../core/record-cache.ts";
import type {
  Claim,
  ClaimAnswer,
  EraseAnswer,
  Erasing,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  Store,
} from "../core/store.ts";
import type { CacheEntries, ReadEntry } from "./cache-entries.ts";

/** How long a cache that didn't answer isn't used: an outage costs one wait per second, not one per call. */
const PAUSE_MS = 1000;

/** Maximum number of records waiting for a result that is loaded separately. */
const MAX_AWAITED = 100;

/** How many entries are compared at the same time. */
const AT_ONCE = 10;

const NOTHING: ReadEntry = { raw: "" };

interface Remembered {
  readonly recordKey: string;
  readonly entry: ReadEntry;
  /** When the record was read from the store. */
  readonly since: number;
  readonly record: IdempotencyRecord;
}

export class RememberingStore<Write> extends FrontStore<Write> implements Store<Write> {
  readonly #clock: Clock;
  readonly #entries: CacheEntries;
  /** Keyed by the address of their results, oldest first. */
  readonly #awaited = new Map<string, Remembered>();
  #pausedUntil = 0;

  constructor(store: Store<Write>, clock: Clock, entries: CacheEntries) {
    super(store, { copiesRecords: true });
    this.#clock = clock;
    this.#entries = entries;
    this.crossCheck = crossChecksOf({ crossCheck: () => this.#crossCheck() }, store);
  }

  /** @internal The same cache in front of `change(the underlying store)`. */
  override inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new RememberingStore(change(this.store), this.#clock, this.#entries);
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey, fingerprint } = claim;
    if (seen) return this.#over(recordKey, seen, () => this.store.claim(claim, seen));
    const entry = await this.#read(recordKey);
    if (entry.record?.fingerprint === fingerprint) return { won: false, record: entry.record };
    return this.#learning(recordKey, entry, () => this.store.claim(claim));
  }

  settle(settlement: Settlement<Write>): Promise<SettleAnswer> {
    return this.store.settle(settlement);
  }

  renew(renewal: Renewal): Promise<RenewAnswer> {
    return this.store.renew(renewal);
  }

  insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    return this.#over(insertion.recordKey, seen, () => this.store.insert(insertion, seen));
  }

  async find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    if (read.consistent) return this.store.find(recordKey, read);
    const entry = await this.#read(recordKey);
    if (entry.record) return entry.record;
    const found = async () => ({ record: await this.store.find(recordKey, read) });
    return (await this.#learning(recordKey, entry, found)).record;
  }

  override async loadResult(address: string): Promise<string | undefined> {
    const remembered = this.#awaited.get(address);
    const text = await this.store.loadResult(address);
    if (remembered && text !== undefined) {
      this.#awaited.delete(address);
      await this.#write({ ...remembered, record: { ...remembered.record, result: { in: "record", text } } });
    }
    return text;
  }

  /** Forget last: a replay in between would cache the result again. @throws StoreUnavailableError: call again */
  override async erase(erasing: Erasing): Promise<EraseAnswer> {
    const answer = await super.erase(erasing);
    await this.#entries.forget(erasing.recordKey, this.#clock);
    return answer;
  }

  async *#crossCheck(): AsyncGenerator<CrossCheck, void> {
    for await (const listed of this.#entries.listed(this.#clock)) {
      for (let from = 0; from < listed.length; from += AT_ONCE) {
        const some = listed.slice(from, from + AT_ONCE);
        for (const check of await Promise.all(some.map((recordKey) => this.#compare(recordKey))))
          if (check) yield check;
      }
    }
  }

  async #compare(recordKey: string): Promise<CrossCheck | undefined> {
    const entry = await this.#entries.read(recordKey, this.#clock);
    const { record } = entry;
    if (!record) return undefined;
    try {
      const found = await this.store.find(recordKey, { consistent: true });
      if (found && isSame(found, record) && (await this.#resultOf(found)) === textOf(record))
        return "confirmed";
    } catch (error) {
      // An unreadable record confirms nothing.
      if (!hasCode(error, "RECORD_CORRUPT")) return "unchecked";
    }
    await this.#entries.drop(recordKey, entry, this.#clock);
    return "dropped";
  }

  async #resultOf(record: IdempotencyRecord): Promise<string | undefined> {
    return record.result?.in === "item" ? this.store.loadResult(record.result.address) : textOf(record);
  }

  /** A claim that saw a completed record replaces that record, because its retention is over. */
  async #over<T>(
    recordKey: string,
    seen: IdempotencyRecord | undefined,
    request: () => Promise<T>,
  ): Promise<T> {
    if (seen?.state !== "completed") return request();
    const entry = await this.#trying(() => this.#entries.read(recordKey, this.#clock), NOTHING);
    if (entry.raw !== "")
      await this.#trying(() => this.#entries.drop(recordKey, entry, this.#clock), undefined);
    return request();
  }

  /** Caches a completed record from an answer. Drops an entry that the answer contradicts. */
  async #learning<T extends object>(
    recordKey: string,
    entry: ReadEntry,
    request: () => Promise<T>,
  ): Promise<T> {
    const since = this.#clock.now();
    const answer = await request();
    const { record } = answer as { readonly record?: IdempotencyRecord };
    if (record?.state === "completed" && isKnownVersion(record.version)) {
      if (!entry.record || !isSame(entry.record, record))
        await this.#remember({ recordKey, entry, since, record });
    } else if (entry.record) {
      await this.#trying(() => this.#entries.drop(recordKey, entry, this.#clock), undefined);
    }
    return answer;
  }

  async #remember(remembered: Remembered): Promise<void> {
    const { result } = remembered.record;
    if (result?.in !== "item") return this.#write(remembered);
    this.#awaited.set(result.address, remembered);
    for (const oldest of this.#awaited.keys()) {
      if (this.#awaited.size <= MAX_AWAITED) break;
      this.#awaited.delete(oldest);
    }
  }

  #write({ recordKey, entry, since, record }: Remembered): Promise<void> {
    return this.#trying(
      () => this.#entries.write(entry, { recordKey, since, record }, this.#clock),
      undefined,
    );
  }

  #read(recordKey: string): Promise<ReadEntry> {
    return this.#trying(() => this.#entries.read(recordKey, this.#clock), NOTHING);
  }

  /** No call fails because of the cache. The process warns once per outage. */
  async #trying<T>(request: () => Promise<T>, otherwise: T): Promise<T> {
    const now = this.#clock.now();
    if (now < this.#pausedUntil && now >= this.#pausedUntil - PAUSE_MS) return otherwise;
    try {
      const answer = await request();
      this.#pausedUntil = 0;
      return answer;
    } catch (error) {
      if (this.#pausedUntil === 0) warn(error);
      this.#pausedUntil = this.#clock.now() + PAUSE_MS;
      return otherwise;
    }
  }
}

function isSame(a: IdempotencyRecord, b: IdempotencyRecord): boolean {
  return (
    a.state === b.state &&
    a.token === b.token &&
    a.fingerprint === b.fingerprint &&
    a.expiresAt === b.expiresAt
  );
}

function textOf({ result }: IdempotencyRecord): string | undefined {
  return result?.in === "record" ? result.text : undefined;
}

function warn(error: unknown): void {
  process.emitWarning(`the cache was skipped, and the store was read instead: ${(error as Error).message}`, {
    code: "ONCEONLY_CACHE",
  });
}
