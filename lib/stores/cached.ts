/**
 * A store that sends one request for duplicates in the same process, and remembers completed records for a while: in memory or
 * in a cache.
 */
import { RECORD_VERSION } from "../contract.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { FrontStore, marksOf } from "../core/front-store.ts";
import { type Check, checkOptions, instance, methods, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import { type IdempotencyRecord, isKnownVersion } from "../core/record.ts";
import type { RecordCache } from "../core/record-cache.ts";
import { RecordMemory } from "../core/record-memory.ts";
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
import { withDefaults } from "../core/with-defaults.ts";

export interface CachedOptions {
  /**
   * How long a completed record is remembered, in seconds: up to 60, or 0 to disable it. During that time, a process may answer
   * from a record that was deleted or changed by hand, or that is missing from a restored table.
   * @default 10
   */
  readonly rememberSeconds?: number;
  /** Maximum number of remembered records and separate results: the oldest are dropped first. @default 1000 */
  readonly maxRecords?: number;
  /** Approximate maximum memory for them, in bytes. @default 4000000 */
  readonly maxBytes?: number;
  /**
   * Remembers records in this shared cache instead of the process's memory, for example `valkeyCache({ client, prefix })` from
   * `onceonly/valkey`. The three options above apply to the process's memory, and can't be combined with this one.
   * @default - in the memory of this process
   */
  readonly in?: RecordCache;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

const DEFAULTS = { rememberSeconds: 10, maxRecords: 1000, maxBytes: 4_000_000, clock: systemClock };

const wholeNumber = (max: number): Check => [
  `must be a whole number between 1 and ${max}`,
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max,
];

const CHECKS: Readonly<Record<keyof CachedOptions, Check>> = {
  rememberSeconds: seconds(0, 60),
  maxRecords: wholeNumber(1_000_000),
  maxBytes: wholeNumber(1_000_000_000),
  in: instance("a cache, such as `valkeyCache({ client, prefix })`", "inFrontOf", "forget"),
  clock: methods("now", "sleep"),
};

/** After that, a duplicate asks by itself: its caller may have less time than the one whose request hangs. */
const FOLLOWS_MS = 1000;

/**
 * The same store for duplicates that meet in one process. If claims of the same operation, scope, key and payload are made at
 * the same time, one asks the store and the others get its answer. A completed record is remembered for `rememberSeconds`, so
 * its replays send no request. After a failed claim or read, each call asks by itself. Nothing else is answered from memory: no
 * running, released or failed record, and no other payload.
 *
 * Useful when duplicates arrive together: Lambda Managed Instances, servers. `idempotentBatch` still groups the
 * requests of its records to the underlying store. With `in`, the replays of all processes are answered from a cache, and the
 * store stays the source of truth.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function cached<Write>(store: Store<Write>, options: CachedOptions = {}): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  checkOptions(options, CHECKS, []);
  const all = withDefaults(options, DEFAULTS);
  const behind = options.in ? behindCache(store, options.in, options, all.clock) : store;
  const memory = new RecordMemory(options.in ? { ...all, maxBytes: 0 } : all);
  return new CachedStore(behind, all.clock, memory, new Map());
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
function behindCache<Write>(
  store: Store<Write>,
  cache: RecordCache,
  options: CachedOptions,
  clock: Clock,
): Store<Write> {
  for (const name of ["rememberSeconds", "maxRecords", "maxBytes"] as const) {
    if (options[name] !== undefined) {
      throw new InvalidOptionError(
        name,
        "only applies to a cache in memory: leave it out together with `in`, and set `rememberSeconds` on the cache",
        options[name],
      );
    }
  }
  if (marksOf(store).sealsResults) {
    throw new InvalidOptionError(
      "in",
      "would receive unencrypted results: put the cache inside `encrypted`, as in encrypted(cached(store, { in }), { keys })",
    );
  }
  return cache.inFrontOf(store, clock);
}

class CachedStore<Write> extends FrontStore<Write> implements Store<Write> {
  readonly #clock: Clock;
  readonly #memory: RecordMemory;
  /** The answers that claims under way will share: `undefined` if nothing is known. They never reject. */
  readonly #claims: Map<string, Promise<ClaimAnswer | undefined>>;

  constructor(
    store: Store<Write>,
    clock: Clock,
    memory: RecordMemory,
    claims: Map<string, Promise<ClaimAnswer | undefined>>,
  ) {
    super(store, { copiesRecords: true });
    this.#clock = clock;
    this.#memory = memory;
    this.#claims = claims;
  }

  /** @internal The same memory in front of `change(the underlying store)`. */
  override inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new CachedStore(change(this.store), this.#clock, this.#memory, this.#claims);
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey, fingerprint } = claim;
    // The caller saw this record and asks again, so drop it from memory.
    if (seen) return this.#changing(recordKey, () => this.store.claim(claim, seen));
    const known = this.#recall(recordKey);
    if (known?.fingerprint === fingerprint) return { won: false, record: known };
    const name = `${fingerprint} ${recordKey}`;
    const leader = this.#claims.get(name);
    const theirs = leader && (await this.#follow(leader));
    if (theirs) return copyOf(theirs);
    const claiming = this.#learning(recordKey, () => this.store.claim(claim));
    if (leader) return claiming;
    const forOthers = claiming.then(
      (answer) => (answer.won ? { won: false, record: inProgress(claim) } : copyOf(answer)),
      () => undefined,
    );
    this.#claims.set(name, forOthers);
    return claiming.finally(() => this.#claims.delete(name));
  }

  settle(settlement: Settlement<Write>): Promise<SettleAnswer> {
    return this.#changing(settlement.recordKey, () => this.store.settle(settlement));
  }

  renew(renewal: Renewal): Promise<RenewAnswer> {
    return this.#changing(renewal.recordKey, () => this.store.renew(renewal));
  }

  insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    return this.#changing(insertion.recordKey, () => this.store.insert(insertion, seen));
  }

  async find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    const known = read.consistent ? undefined : this.#recall(recordKey);
    if (known) return known;
    const { record } = await this.#learning(recordKey, async () => ({
      record: await this.store.find(recordKey, read),
    }));
    return record;
  }

  override async loadResult(address: string): Promise<string | undefined> {
    const known = this.#memory.get(address) as string | undefined;
    if (known !== undefined) return known;
    const since = this.#clock.now();
    const text = await this.store.loadResult(address);
    if (text !== undefined) this.#memory.keep(address, text, text, since);
    return text;
  }

  /** Separate results are remembered by addresses that are no longer known here, so forget everything. */
  override erase(erasing: Erasing): Promise<EraseAnswer> {
    return super.erase(erasing).finally(() => this.#memory.clear());
  }

  #recall(recordKey: string): IdempotencyRecord | undefined {
    return structuredClone(this.#memory.get(recordKey) as IdempotencyRecord | undefined);
  }

  #changing<T extends object>(recordKey: string, request: () => Promise<T>): Promise<T> {
    this.#memory.forget(recordKey);
    return this.#learning(recordKey, request);
  }

  /** Remembers the record in an answer, or forgets a record that has changed. */
  async #learning<T extends object>(recordKey: string, request: () => Promise<T>): Promise<T> {
    const since = this.#clock.now();
    const answer = await request();
    const { record } = answer as { readonly record?: IdempotencyRecord };
    const isFinal = record?.state === "completed" && isKnownVersion(record.version);
    if (isFinal) this.#memory.keep(recordKey, structuredClone(record), textOf(record), since);
    else this.#memory.forget(recordKey);
    return answer;
  }

  async #follow(leader: Promise<ClaimAnswer | undefined>): Promise<ClaimAnswer | undefined> {
    const over = new AbortController();
    try {
      return await Promise.race([leader, this.#clock.sleep(FOLLOWS_MS, over.signal).then(() => undefined)]);
    } finally {
      over.abort("over");
    }
  }
}

function textOf({ result }: IdempotencyRecord): string {
  return result?.in === "record" ? result.text : "";
}

function copyOf(answer: ClaimAnswer): ClaimAnswer {
  return structuredClone(answer);
}

/** The record created by a claim that won. */
function inProgress(claim: Claim): IdempotencyRecord {
  const { token, attempt, leaseEndsAt, fingerprint, createdAt, expiresAt } = claim;
  const state = "in-progress";
  return { version: RECORD_VERSION, state, token, attempt, leaseEndsAt, fingerprint, createdAt, expiresAt };
}
