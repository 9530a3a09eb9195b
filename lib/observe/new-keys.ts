/**
 * A store that detects one payload under many new keys: a caller that makes a new key for each try repeats its effect each time.
 */
import { type Clock, systemClock } from "../core/clock.ts";
import { type DecisionEvent, type Observe, reportDecision } from "../core/decisions.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { hashTuple, namesOf } from "../core/identity.ts";
import { aFunction, checkOptions, methods, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, ClaimAnswer, Insertion, SettleAnswer, Settlement, Store } from "../core/store.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { ResultStore } from "../stores/result-store.ts";

export interface NewKeysOptions {
  /** Receives `new-keys` events, for example the handler's `observe`. */
  readonly observe: Observe;
  /**
   * Reports a payload once it has been seen under this many keys, and again for each further key: 2 to 100.
   * @default 3
   */
  readonly keys?: number;
  /**
   * Length of the period, in seconds, starting with the first of these keys, up to 86400.
   * @default 600
   */
  readonly withinSeconds?: number;
  /**
   * A store in which all processes count together: the same one, or one that is cheaper to write. Each new key costs one write,
   * and a second one if the payload is known. A separate record per payload holds its count and time.
   * @default - each process counts its own calls
   */
  readonly countIn?: Store<never>;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

const CHECKS = {
  observe: aFunction,
  keys: [
    "must be a whole number between 2 and 100",
    (value: unknown) => Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 100,
  ],
  withinSeconds: seconds(1, 86_400),
  countIn: ENGINE_CHECKS.store,
  clock: methods("now", "sleep"),
} as const;

/** How many payloads are remembered: the most recent ones. */
const MAX_PAYLOADS = 1000;

/**
 * The same store, which also emits `new-keys` when one owner sends one payload of an operation under several unused keys.
 * Nothing is refused: two equal orders may be intended. Don't use it for operations whose payloads are equal by design, such as
 * empty ones.
 *
 * Each process remembers the hashes of its last 1,000 payloads, and makes no request. So calls that are spread over many
 * processes, such as Lambda environments, are noticed late, or not at all. With `countIn` they are noticed wherever they run.
 * The count is made while the handler runs, and the call waits for it for at most a second. A failed count is reported as
 * `store-failed`, and the process counts by itself.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function watchNewKeys<Write>(store: Store<Write>, options: NewKeysOptions): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  checkOptions(options, CHECKS, ["observe"]);
  const { keys, withinSeconds, clock, countIn, observe } = withDefaults(options, {
    keys: 3,
    withinSeconds: 600,
    clock: systemClock,
  });
  const rules = { keys, withinMs: withinSeconds * 1000, clock };
  const seen = new SeenPayloads(rules);
  const report = (recordKey: string, happened: Pick<DecisionEvent, "decision" | "error">) =>
    reportDecision(observe, namesOf(recordKey), { ...happened, durationMs: 0 });
  const note = async (fresh: FreshKey) => {
    let keysOfPayload = countIn ? undefined : seen.note(fresh);
    try {
      if (countIn) keysOfPayload = await countTogether(countIn, rules, fresh);
    } catch (error) {
      report(fresh.recordKey, { decision: "store-failed", error });
    }
    if ((keysOfPayload ?? seen.note(fresh)) >= keys) report(fresh.recordKey, { decision: "new-keys" });
  };
  return new NewKeysStore(store, note, clock);
}

interface CountingRules {
  readonly keys: number;
  readonly withinMs: number;
  readonly clock: Clock;
}

/** A previously unused key, and its payload. */
type FreshKey = Pick<Claim, "recordKey" | "fingerprint" | "token">;

/** After this many concurrent counts of one payload, this key's count is given up. */
const MAX_RACES = 20;

/**
 * Counts in a record of the payload: the record's attempt is the number of keys, its start is the start of the period. The owner
 * comes first in the record's key, so permission to write the owner's records is enough. Resolves to the number of keys.
 */
async function countTogether(
  store: Store<never>,
  { withinMs, clock }: CountingRules,
  { recordKey, fingerprint, token }: FreshKey,
): Promise<number> {
  const owner = recordKey.slice(0, recordKey.lastIndexOf("#"));
  let seen: IdempotencyRecord | undefined;
  for (let races = 0; races < MAX_RACES; races++) {
    const now = clock.now();
    const isFresh = seen !== undefined && now - seen.createdAt < withinMs;
    const createdAt = seen && isFresh ? seen.createdAt : now;
    const attempt = seen && isFresh ? seen.attempt + 1 : 1;
    const insertion = {
      recordKey: `${owner}#${hashTuple("onceonly/new-keys/1", fingerprint)}`,
      token,
      fingerprint,
      attempt,
      createdAt,
      keepsSteps: false,
      state: "completed",
      now,
      expiresAt: Math.ceil((createdAt + withinMs) / 1000),
      writes: [],
      messages: [],
    } as const;
    const answer = await store.insert(insertion, seen);
    if (answer.settled) return attempt;
    seen = answer.record;
  }
  throw new StoreUnavailableError("conflict", undefined);
}

interface SeenPayload {
  /** Epoch ms. */
  readonly since: number;
  readonly keyHashes: Set<string>;
}

class SeenPayloads {
  readonly #rules: CountingRules;
  readonly #seen = new Map<string, SeenPayload>();

  constructor(rules: CountingRules) {
    this.#rules = rules;
  }

  /** The number of keys under which this process has seen the payload; 0 if it knew the key. */
  note({ recordKey, fingerprint }: FreshKey): number {
    const { keys, withinMs, clock } = this.#rules;
    const owner = recordKey.slice(0, recordKey.lastIndexOf("#"));
    const keyHash = recordKey.slice(owner.length + 1);
    const name = `${owner}#${fingerprint}`;
    const now = clock.now();
    const known = this.#seen.get(name);
    const isFresh = known !== undefined && now - known.since < withinMs;
    const payload = isFresh ? known : { since: now, keyHashes: new Set<string>() };
    this.#seen.delete(name);
    this.#seen.set(name, payload);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MAX_PAYLOADS && oldest !== undefined) this.#seen.delete(oldest);
    if (payload.keyHashes.has(keyHash)) return 0;
    // Beyond the counted keys, only the last key is kept to recognize repetitions of one call.
    if (payload.keyHashes.size >= keys) payload.keyHashes.delete([...payload.keyHashes].at(-1) ?? "");
    payload.keyHashes.add(keyHash);
    return payload.keyHashes.size;
  }
}

/** How long a call waits for a count. */
const PATIENCE_MS = 1000;

class NewKeysStore<Write> extends ResultStore<Write> {
  readonly #note: (fresh: FreshKey) => Promise<void>;
  readonly #clock: Clock;
  /** Counts under way, keyed by the token of their attempt. */
  readonly #counts = new Map<string, Promise<void>>();

  constructor(store: Store<Write>, note: (fresh: FreshKey) => Promise<void>, clock: Clock) {
    super(store);
    this.#note = note;
    this.#clock = clock;
  }

  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new NewKeysStore(change(this.store), this.#note, this.#clock);
  }

  override async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const answer = await super.claim(claim, seen);
    if (answer.won && seen === undefined) this.#count(claim);
    return answer;
  }

  override async settle(settlement: Settlement<Write>): Promise<SettleAnswer> {
    const [answer] = await Promise.all([super.settle(settlement), this.#counted(settlement.token)]);
    return answer;
  }

  override async insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const answer = await super.insert(insertion, seen);
    if (answer.settled && seen === undefined) {
      this.#count(insertion);
      await this.#counted(insertion.token);
    }
    return answer;
  }

  #count(fresh: FreshKey): void {
    const { token } = fresh;
    this.#counts.set(
      token,
      this.#note(fresh).finally(() => this.#counts.delete(token)),
    );
  }

  async #counted(token: string): Promise<void> {
    const count = this.#counts.get(token);
    if (!count) return;
    const over = new AbortController();
    await Promise.race([count, this.#clock.sleep(PATIENCE_MS, over.signal)]);
    over.abort("over");
  }

  protected override async storedText({
    result,
  }: Settlement<Write> | Insertion<Write>): Promise<string | undefined> {
    return result;
  }
}
