/** A store whose duplicates in one process ask once, and whose finished records are remembered for a while: here, or in a cache. */
import { RECORD_VERSION } from "../contract.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { FrontStore, marksOf } from "../core/front-store.ts";
import { type Check, checkOptions, methods, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
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

export interface CachedOptions {
  /**
   * How long a completed record is remembered, in seconds: up to 60, or 0 for not at all. For that time a process may
   * answer from a record that somebody has deleted or changed by hand, or that a restored table lacks.
   * @default 10
   */
  readonly rememberSeconds?: number;
  /** How many records, and results outside of them, are remembered at most: the oldest are forgotten first. @default 1000 */
  readonly maxRecords?: number;
  /** How much memory they take at most, in bytes, roughly. @default 4000000 */
  readonly maxBytes?: number;
  /**
   * Remembers them there for all processes, such as `valkeyCache({ client, prefix })` of `onceonly/valkey`, and not in this process.
   * The three options above are those of the process's memory, and go without this one.
   * @default - in the memory of this process
   */
  readonly in?: RecordCache;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

const DEFAULTS = { rememberSeconds: 10, maxRecords: 1000, maxBytes: 4_000_000, clock: systemClock };

const wholeNumber = (max: number): Check => [
  `must be a whole number from 1 to ${max}`,
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max,
];

const [cacheRule, isCache] = methods("inFrontOf", "forget");

const CHECKS: Readonly<Record<keyof CachedOptions, Check>> = {
  rememberSeconds: seconds(0, 60),
  maxRecords: wholeNumber(1_000_000),
  maxBytes: wholeNumber(1_000_000_000),
  in: [`${cacheRule}: give \`valkeyCache({ client, prefix })\``, isCache],
  clock: methods("now", "sleep"),
};

/** Then a duplicate asks for itself: its caller may have less time than the one whose request hangs. */
const FOLLOWS_MS = 1000;

/**
 * The same store for duplicates that meet in one process. Among claims of one operation, scope, key and payload that
 * meet, one asks, and the others get its answer. A completed record is remembered for `rememberSeconds`, so that its
 * replays ask for
 * nothing. After a claim or a read that failed each call asks for itself. Nothing else is answered from memory: no record
 * that runs, is released or has failed, and no other payload.
 *
 * Useful where duplicates arrive together: Lambda Managed Instances, servers. Records of `idempotentBatch` ask together
 * behind this store. With `in` the replays of all processes are answered from a cache, and the store stays the truth.
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
        "is an option of the process's memory: with `in` leave it out, and give `rememberSeconds` to the cache",
        options[name],
      );
    }
  }
  if (marksOf(store).sealsResults) {
    throw new InvalidOptionError(
      "in",
      "must be behind `encrypted`, or results would leave the process as they are: encrypted(cached(store, { in }), { keys })",
    );
  }
  return cache.inFrontOf(store, clock);
}

class CachedStore<Write> extends FrontStore<Write> implements Store<Write> {
  readonly #clock: Clock;
  readonly #memory: RecordMemory;
  /** What the claims under way will tell the others: `undefined` where nothing is known. They never reject. */
  readonly #claims: Map<string, Promise<ClaimAnswer | undefined>>;

  constructor(
    store: Store<Write>,
    clock: Clock,
    memory: RecordMemory,
    claims: Map<string, Promise<ClaimAnswer | undefined>>,
  ) {
    super(store);
    this.#clock = clock;
    this.#memory = memory;
    this.#claims = claims;
  }

  /** @internal The same memory in front of a store that `change` makes of the one behind it. */
  override inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new CachedStore(change(this.store), this.#clock, this.#memory, this.#claims);
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey, fingerprint } = claim;
    // The caller saw this record and asks again, so the memory drops it.
    if (seen) return this.#changing(recordKey, () => this.store.claim(claim, seen));
    const known = this.#recall(recordKey);
    if (known?.fingerprint === fingerprint) return { won: false, record: known };
    const name = `${fingerprint} ${recordKey}`;
    const leader = this.#claims.get(name);
    const told = leader && (await this.#follow(leader));
    if (told) return copyOf(told);
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

  /** Results outside of records are remembered by addresses that nobody knows any more: all is forgotten. */
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

  /** Remembers the record in an answer, or forgets a record that has changed since. */
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

/** The record that a claim which won has made. */
function inProgress(claim: Claim): IdempotencyRecord {
  const { token, attempt, leaseEndsAt, fingerprint, createdAt, expiresAt } = claim;
  const state = "in-progress";
  return { version: RECORD_VERSION, state, token, attempt, leaseEndsAt, fingerprint, createdAt, expiresAt };
}
