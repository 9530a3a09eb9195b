/** A store that notices one payload under ever new keys: a caller that makes a key for each try repeats its effect each time. */
import { type Clock, systemClock } from "../core/clock.ts";
import { type Observe, tellObserver } from "../core/decisions.ts";
import { namesOf } from "../core/identity.ts";
import { aFunction, checkOptions, ENGINE_CHECKS, methods, seconds } from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, ClaimAnswer, Insertion, SettleAnswer, Settlement, Store } from "../core/store.ts";
import { ResultStore } from "../privacy/result-store.ts";

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
  /** @default - the system's clock */
  readonly clock?: Pick<Clock, "now">;
}

const CHECKS = {
  observe: aFunction,
  keys: [
    "must be a whole number from 2 to 100",
    (value: unknown) => Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 100,
  ],
  withinSeconds: seconds(1, 86_400),
  clock: methods("now"),
} as const;

/** How many payloads are remembered: the last ones. */
const MAX_PAYLOADS = 1000;

/**
 * The same store. It tells `new-keys` where one owner asks for one payload of an operation under several keys that nobody has used.
 * Nothing is refused: two equal orders may be meant. Leave out operations whose payloads are equal by design, such as empty ones.
 *
 * Each process remembers the hashes of its last 1,000 payloads, and makes no request. So calls that are spread over
 * many processes are noticed late, or not at all. A warning is a hint, and its count a lower bound.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
 */
export function watchNewKeys<Write>(store: Store<Write>, options: NewKeysOptions): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  checkOptions(options, CHECKS, ["observe"]);
  const { observe, keys, withinSeconds, clock } = withDefaults(options, {
    keys: 3,
    withinSeconds: 600,
    clock: systemClock,
  });
  return new NewKeysStore(store, new SeenPayloads(observe, keys, withinSeconds * 1000, clock));
}

interface SeenPayload {
  /** Epoch ms. */
  readonly since: number;
  readonly keyHashes: Set<string>;
}

class SeenPayloads {
  readonly #observe: Observe;
  readonly #keys: number;
  readonly #withinMs: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #seen = new Map<string, SeenPayload>();

  constructor(observe: Observe, keys: number, withinMs: number, clock: Pick<Clock, "now">) {
    this.#observe = observe;
    this.#keys = keys;
    this.#withinMs = withinMs;
    this.#clock = clock;
  }

  /** A key that nobody has used was claimed with this payload. */
  note({ recordKey, fingerprint }: Pick<Claim, "recordKey" | "fingerprint">): void {
    const owner = recordKey.slice(0, recordKey.lastIndexOf("#"));
    const keyHash = recordKey.slice(owner.length + 1);
    const name = `${owner}#${fingerprint}`;
    const now = this.#clock.now();
    const known = this.#seen.get(name);
    const isFresh = known !== undefined && now - known.since < this.#withinMs;
    const payload = isFresh ? known : { since: now, keyHashes: new Set<string>() };
    this.#seen.delete(name);
    this.#seen.set(name, payload);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MAX_PAYLOADS && oldest !== undefined) this.#seen.delete(oldest);
    if (payload.keyHashes.has(keyHash)) return;
    // Beyond what is counted the last key alone tells repetitions of one call.
    if (payload.keyHashes.size >= this.#keys) payload.keyHashes.delete([...payload.keyHashes].at(-1) ?? "");
    payload.keyHashes.add(keyHash);
    if (payload.keyHashes.size < this.#keys) return;
    tellObserver(this.#observe, namesOf(recordKey), { decision: "new-keys", durationMs: 0 });
  }
}

class NewKeysStore<Write> extends ResultStore<Write> {
  readonly #payloads: SeenPayloads;

  constructor(store: Store<Write>, payloads: SeenPayloads) {
    super(store);
    this.#payloads = payloads;
  }

  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new NewKeysStore(change(this.store), this.#payloads);
  }

  override async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const answer = await super.claim(claim, seen);
    if (answer.won && seen === undefined) this.#payloads.note(claim);
    return answer;
  }

  override async insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const answer = await super.insert(insertion, seen);
    if (answer.settled && seen === undefined) this.#payloads.note(insertion);
    return answer;
  }

  protected override asTold(_: string, record: IdempotencyRecord): IdempotencyRecord {
    return record;
  }

  protected override async storedText({
    result,
  }: Settlement<Write> | Insertion<Write>): Promise<string | undefined> {
    return result;
  }
}
