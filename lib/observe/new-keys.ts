/** A store that notices one payload under ever new keys: a caller that makes a key for each try repeats its effect each time. */
import { type Clock, systemClock } from "../core/clock.ts";
import { type DecisionEvent, type Observe, tellObserver } from "../core/decisions.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { hashTuple, namesOf } from "../core/identity.ts";
import { aFunction, checkOptions, methods, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, ClaimAnswer, Insertion, SettleAnswer, Settlement, Store } from "../core/store.ts";
import { ResultStore } from "../stores/result-store.ts";

export interface NewKeysOptions {
  /** Is told `new-keys`, such as the `observe` of the handler. */
  readonly observe: Observe;
  /**
   * Under so many keys a payload is told, and under each further one: 2 to 100.
   * @default 3
   */
  readonly keys?: number;
  /**
   * Within so many seconds of the first of them, up to 86400.
   * @default 600
   */
  readonly withinSeconds?: number;
  /**
   * A store in which all processes count together: the same one, or one that is cheaper to write. For each new key it takes one
   * write, and a second one where the payload is known. A record of its own holds the count of each payload, with its time.
   * @default - each process counts its own calls
   */
  readonly countIn?: Store<never>;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

const CHECKS = {
  observe: aFunction,
  keys: [
    "must be a whole number from 2 to 100",
    (value: unknown) => Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 100,
  ],
  withinSeconds: seconds(1, 86_400),
  countIn: ENGINE_CHECKS.store,
  clock: methods("now", "sleep"),
} as const;

/** How many payloads are remembered: the last ones. */
const MAX_PAYLOADS = 1000;

/**
 * The same store. It tells `new-keys` where one owner asks for one payload of an operation under several keys that nobody has used.
 * Nothing is refused: two equal orders may be meant. Leave out operations whose payloads are equal by design, such as empty ones.
 *
 * Each process remembers the hashes of its last 1,000 payloads, and makes no request. So calls that are spread over
 * many processes, such as environments of Lambda, are noticed late, or not at all. With `countIn` they are noticed wherever they
 * run. The count is made while the handler runs, and the call waits for it for a second at most. A count that fails is told as
 * `store-failed`, and the process counts by itself.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
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
  const tell = (recordKey: string, told: Pick<DecisionEvent, "decision" | "error">) =>
    tellObserver(observe, namesOf(recordKey), { ...told, durationMs: 0 });
  const note = async (fresh: FreshKey) => {
    let keysOfPayload = countIn ? undefined : seen.note(fresh);
    try {
      if (countIn) keysOfPayload = await countTogether(countIn, rules, fresh);
    } catch (error) {
      tell(fresh.recordKey, { decision: "store-failed", error });
    }
    if ((keysOfPayload ?? seen.note(fresh)) >= keys) tell(fresh.recordKey, { decision: "new-keys" });
  };
  return new NewKeysStore(store, note, clock);
}

interface CountingRules {
  readonly keys: number;
  readonly withinMs: number;
  readonly clock: Clock;
}

/** A key that nobody had used, and its payload. */
type FreshKey = Pick<Claim, "recordKey" | "fingerprint" | "token">;

/** After this many other counts of one payload at once the count of this key is given up. */
const MAX_RACES = 20;

/**
 * Counts in a record of the payload: its attempt is the number of keys, its beginning that of the time. The owner stands in front, so
 * that a right to write the owner's records is enough. Resolves to the number of keys.
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

  /** The number of keys under which this process has seen the payload; 0 where it knew the key. */
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
    // Beyond what is counted the last key alone tells repetitions of one call.
    if (payload.keyHashes.size >= keys) payload.keyHashes.delete([...payload.keyHashes].at(-1) ?? "");
    payload.keyHashes.add(keyHash);
    return payload.keyHashes.size;
  }
}

/** A call waits so long for a count. */
const PATIENCE_MS = 1000;

class NewKeysStore<Write> extends ResultStore<Write> {
  readonly #note: (fresh: FreshKey) => Promise<void>;
  readonly #clock: Clock;
  /** Counts under way, by the token of the attempt that they are about. */
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
