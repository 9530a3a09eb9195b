/** Runs an operation again from one of its steps, under a new key: an operator's repair of what a bad deployment did. */
import { MAX_RETENTION_SECONDS, STOPPED, TURNED_BACK } from "../contract.ts";
import { BY_WHOM_CHECKS, type ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import { InvalidOptionError, PermanentError, RecordCorruptError } from "./errors.ts";
import { identify, namesOf } from "./identity.ts";
import { ASKED, OPERATED_CHECKS } from "./operated.ts";
import { type Check, checkOptions, isStepName } from "./option-checks.ts";
import { DEFAULTS } from "./options.ts";
import { encodeError, NOT_KEPT } from "./outcome.ts";
import {
  classify,
  type IdempotencyRecord,
  isClaimOf,
  isExpired,
  isTracked,
  openStepsOf,
  type State,
  type StoredResult,
  type StoredStep,
  type StoredSteps,
  successionOf,
} from "./record.ts";
import { checkHoldsRecords, historyOf } from "./reopening.ts";
import type { SettleAnswer, Store } from "./store.ts";
import { retryUntil } from "./take-unknown.ts";
import { checkSeals, tokenLike } from "./token-marks.ts";
import { decodeEvidence, encodeEvidence } from "./verify.ts";

interface ForkOptions<Write> {
  readonly store: Store<Write>;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface Fork extends ByWhom {
  /** The step that runs again first, as the record names it: in a saga `<saga>/<step>`. */
  readonly from: string;
  /** The idempotency key of the fork, in the same operation and scope. */
  readonly as: string;
}

/** Which steps a fork copies, and which recorded ones run again. */
export interface ForkPlan {
  readonly copied: readonly string[];
  readonly again: readonly string[];
}

/**
 * `waiting`: messages of the key's commit aren't sent yet. `taken`: the new key has a record already. `undone`: the saga has
 * turned back, so its steps are undone.
 */
export type ForkAnswer =
  | ({ readonly forked: true; readonly recordKey: string } & ForkPlan)
  | { readonly forked: false; readonly state: State | "absent" | "waiting" | "taken" | "undone" };

const FORK_CHECKS: Readonly<Record<string, Check>> = {
  ...BY_WHOM_CHECKS,
  from: ["must be the name of a step of 1 to 64 characters", isStepName],
  as: ["must be the idempotency key of the fork", (value) => typeof value === "string"],
};

const PATIENCE_MS = 5000;
/** How long no other call may claim either key between two writes. */
const LEASE_MS = 60_000;

/** The steps from which a record can be forked, in the order in which they ended. */
export function forkableSteps({ steps = {} }: Pick<IdempotencyRecord, "steps">): readonly string[] {
  const own = inOrder(steps);
  // A saga records with each step which one comes next.
  const next = Object.values(steps).flatMap((step) => step.next ?? []);
  return [...new Set([...own, ...next])];
}

const isMark = (name: string, mark: string) => name.endsWith(`/${mark}`);

function inOrder(steps: StoredSteps): readonly string[] {
  const at = ([, one]: [string, StoredStep], [, other]: [string, StoredStep]) =>
    one.attempt - other.attempt || one.at - other.at;
  return Object.entries(steps)
    .filter(([name]) => !isMark(name, STOPPED))
    .sort(at)
    .map(([name]) => name);
}

/**
 * Steps that were done before `from` are copied; all others run again.
 * @throws InvalidOptionError (`INVALID_OPTION`) for a step that the record doesn't have, and if a step's outcome is unknown
 */
export function planFork(record: Pick<IdempotencyRecord, "steps">, from: string): ForkPlan {
  const known = forkableSteps(record);
  if (!known.includes(from)) {
    throw new InvalidOptionError(
      "from",
      known.length > 0
        ? `must be one of the recorded steps: ${known.join(", ")}`
        : "must be a recorded step, but this record has none: it never had one, or dropped them when it finished (set `keepSteps` on the handler to keep them), so use `rerun`",
    );
  }
  const open = openStepsOf(record).filter((name) => !isMark(name, STOPPED));
  if (open.length > 0)
    throw new InvalidOptionError(
      "from",
      `needs a settled record: the outcome of ${open.join(", ")} is unknown`,
    );
  const steps = record.steps as StoredSteps;
  const own = inOrder(steps);
  const end = own.includes(from) ? own.indexOf(from) : own.length;
  const copied = own.slice(0, end).filter((name) => (steps[name] as StoredStep).state === "done");
  return { copied, again: known.filter((name) => !copied.includes(name)) };
}

/**
 * Creates a record under the key `as`, in the same operation and scope, with the results of the steps before `from`. The call
 * with that key and the same payload runs the handler, which continues at `from`. Its child keys and the keys of its messages
 * are new, so other systems see the effects of the remaining steps as new ones.
 *
 * The original never runs again: a finished one keeps its answer, any other fails from then on with a `ForkedError` (HTTP 409).
 * Both records name each other in their evidence. A key stays as it is if it's in progress, if its messages wait, if its saga
 * has turned back, or if `as` is taken. Repeating the same fork changes nothing.
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) before any write;
 * StoreUnavailableError (`STORE_UNAVAILABLE`): fork to another key; RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function forkRecord<Write>(
  { store, clock = DEFAULTS.clock, random = DEFAULTS.random }: ForkOptions<Write>,
  recordKey: string,
  fork: Fork,
): Promise<ForkAnswer> {
  checkOptions(fork, FORK_CHECKS, ["by", "why", "from", "as"]);
  checkOptions({ store, clock, random }, OPERATED_CHECKS, ["store"]);
  checkHoldsRecords(store);
  const { operation, scope } = namesOf(recordKey);
  const target = identify(operation, scope, fork.as).recordKey;
  const at = clock.now();
  const asking = <T>(request: () => Promise<T>) => retryUntil({ clock, random }, at + PATIENCE_MS, request);
  const read = (key: string) => asking(() => store.find(key, { consistent: true }));
  const seen = await read(recordKey);
  if (!seen || isExpired(seen, at)) return { forked: false, state: "absent" };
  checkSeals(store, seen);
  const refused = refusalOf(seen, at);
  if (refused) return { forked: false, state: refused };
  const former = await read(target);
  const plan = planFork(seen, fork.from);
  if (former && !isExpired(former, at)) {
    const isSame = decodeEvidence(former.evidence)?.fork?.of === recordKey && former.state !== "in-progress";
    return isSame ? { forked: true, recordKey: target, ...plan } : { forked: false, state: "taken" };
  }
  const steps = seen.steps as StoredSteps;
  const results = new Map<string, string | undefined>();
  for (const name of plan.copied)
    results.set(name, await asking(() => textOf(store, (steps[name] as StoredStep).result)));
  const work = new Forking({ store, recordKey, target, seen, fork, at, random, asking });
  const closed = await work.close();
  if (closed) return { forked: false, state: closed };
  const answer = await work.create(plan, results, former);
  return answer ? { forked: true, recordKey: target, ...plan } : { forked: false, state: "taken" };
}

function refusalOf(seen: IdempotencyRecord, now: number): "in-progress" | "waiting" | "undone" | undefined {
  const status = classify(seen, { token: "", fingerprints: [seen.fingerprint], now });
  if (status === "in-progress") return status;
  const isOver = status === "completed" || status === "failed";
  // Its messages are sent, however late: until then the record doesn't expire.
  if (isOver && seen.expiresAt === undefined) return "waiting";
  return Object.keys(seen.steps ?? {}).some((name) => isMark(name, TURNED_BACK)) ? "undone" : undefined;
}

/** @throws RecordCorruptError if a stored result is missing: a step that is done must not lose it unnoticed */
async function textOf<Write>(
  store: Store<Write>,
  result: StoredResult | undefined,
): Promise<string | undefined> {
  if (result === undefined) return undefined;
  if (result.in === "nowhere") return NOT_KEPT;
  const text = result.in === "record" ? result.text : await store.loadResult(result.address);
  if (text === undefined) throw new RecordCorruptError("the item with a step's result is missing");
  return text;
}

interface ForkingOptions<Write> {
  readonly store: Store<Write>;
  readonly recordKey: string;
  readonly target: string;
  readonly seen: IdempotencyRecord;
  readonly fork: Fork;
  /** Epoch ms. */
  readonly at: number;
  readonly random: Random;
  readonly asking: <T>(request: () => Promise<T>) => Promise<T>;
}

class Forking<Write> {
  readonly #given: ForkingOptions<Write>;
  readonly #token: string;
  readonly #expiresAt: number;

  constructor(given: ForkingOptions<Write>) {
    this.#given = given;
    this.#token = tokenLike(given.seen.token, given.random.token());
    this.#expiresAt = Math.ceil(given.at / 1000 + MAX_RETENTION_SECONDS);
  }

  /**
   * First, so that the original can't go on beside its fork. It keeps its steps, for another fork.
   * @returns the state that it has instead, if another call was first
   */
  async close(): Promise<State | "absent" | undefined> {
    const { store, recordKey, target, seen, fork, at, asking } = this.#given;
    const { state, attempt, fingerprint } = seen;
    const isOver = state === "completed" || state === "failed";
    const evidence = encodeEvidence({
      ...{ verdict: state === "completed" ? "happened" : "unknown", by: fork.by, at, attempt },
      ...{ asked: ASKED.fork, answered: fork.why, fork: { to: target }, past: historyOf(store, seen) },
    });
    const token = this.#token;
    const beginning = { recordKey, token, fingerprint, ...successionOf(seen, at) };
    const end = { evidence, writes: [], messages: [] };
    let answer: SettleAnswer;
    if (isOver) {
      const result = await asking(() => textOf(store, seen.result));
      const [now, expiresAt] = [seen.completedAt as number, seen.expiresAt as number];
      const insertion = {
        ...beginning,
        ...end,
        state,
        now,
        expiresAt,
        ...(result !== undefined && { result }),
      };
      answer = await asking(() => store.insert(insertion, seen));
    } else {
      const claimed = await asking(() => store.claim({ ...beginning, leaseEndsAt: at + LEASE_MS }, seen));
      if (!claimed.won && !isClaimOf(claimed.record, token)) return claimed.record?.state ?? "absent";
      const result = encodeError(forkedError(), false);
      answer = await asking(() =>
        store.settle({
          ...{ recordKey, token, now: at, state: "failed", isListed: true },
          ...{ expiresAt: this.#expiresAt, result, ...end },
        }),
      );
    }
    return answer.settled ? undefined : (answer.record?.state ?? "absent");
  }

  /** @returns whether the record was created. If the process dies before, the new key is abandoned, and listed as such. */
  async create(
    { copied }: ForkPlan,
    results: ReadonlyMap<string, string | undefined>,
    former: IdempotencyRecord | undefined,
  ): Promise<boolean> {
    const { store, recordKey, target, seen, fork, at, asking } = this.#given;
    const stored = { ...seen.steps };
    const token = this.#token;
    const leaseEndsAt = at + LEASE_MS;
    const succession = successionOf(former, at);
    const claim = { recordKey: target, token, fingerprint: seen.fingerprint, leaseEndsAt, ...succession };
    const claimed = await asking(() => store.claim(claim, former));
    if (!claimed.won && !isClaimOf(claimed.record, token)) return false;
    // A record with steps comes from a store that can write them.
    const { writeStep } = store as Required<Store<Write>>;
    const steps: Record<string, StoredStep> = {};
    for (const [index, name] of copied.entries()) {
      const { result: _, next, undoNext, ...marks } = stored[name] as StoredStep;
      // What comes next hasn't begun under the new key, unless it's copied too.
      const known = next !== undefined && copied.includes(next) ? { next, undoNext } : {};
      steps[name] = { ...marks, ...known, attempt: succession.attempt, at: at + index };
      const written = await asking(() =>
        writeStep.call(store, {
          ...{ recordKey: target, token, name, step: steps[name] as StoredStep, result: results.get(name) },
          ...{ resultExpiresAt: this.#expiresAt, isFirst: index === 0, writes: [] },
          // Each step makes the lease a millisecond longer.
          leaseEndsAt: leaseEndsAt + index,
        }),
      );
      if (!written.settled) return false;
    }
    const isUnfinished = isTracked({ steps });
    const settled = await asking(() =>
      store.settle({
        ...{ recordKey: target, token, now: at, state: "released", isListed: !isUnfinished },
        ...(!isUnfinished && { expiresAt: this.#expiresAt }),
        evidence: encodeEvidence({
          ...{ verdict: "unknown", by: fork.by, at, attempt: succession.attempt, asked: ASKED.fork },
          ...{ answered: fork.why, fork: { of: recordKey }, step: fork.from },
        }),
        ...{ writes: [], messages: [] },
      }),
    );
    return settled.settled;
  }
}

/** What later calls with the original key get. */
const forkedError = () =>
  new PermanentError("an operator runs this operation again under another idempotency key", {
    name: "ForkedError",
    statusCode: 409,
  });
