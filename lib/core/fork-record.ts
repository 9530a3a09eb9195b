/** Runs an operation again from one of its steps, under a new key: an operator's repair of what a bad deployment did. */
import { createHash } from "node:crypto";
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
import type { Store } from "./store.ts";
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
  /** Also if a step was started and may have happened. */
  readonly evenThoughStarted?: boolean;
}

/**
 * Which steps a fork copies, and which recorded ones run again. Of the latter, those in `started` were started, but not
 * recorded: they may have happened.
 */
export interface ForkPlan {
  readonly copied: readonly string[];
  readonly again: readonly string[];
  readonly started: readonly string[];
}

/**
 * `waiting`: messages of the key's commit aren't sent yet. `taken`: the new key has another record already. `undone`: the saga
 * has turned back, so its steps are undone. `forked`: to the record key in `to`. `started`: the steps in `steps` may have
 * happened.
 */
export type ForkAnswer =
  | ({ readonly forked: true; readonly recordKey: string } & ForkPlan)
  | {
      readonly forked: false;
      readonly state: State | "absent" | "waiting" | "taken" | "undone" | "forked" | "started";
      readonly to?: string;
      readonly steps?: readonly string[];
    };

const FORK_CHECKS: Readonly<Record<string, Check>> = {
  ...BY_WHOM_CHECKS,
  from: ["must be the name of a step of 1 to 64 characters", isStepName],
  as: ["must be the idempotency key of the fork", (value) => typeof value === "string"],
  evenThoughStarted: ["must be true or false", (value) => typeof value === "boolean"],
};

const PATIENCE_MS = 5000;
/** How long no other call may claim the original between two writes. */
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
  const again = known.filter((name) => !copied.includes(name));
  return { copied, again, started: again.filter((name) => steps[name] === undefined) };
}

/**
 * Creates a record under the key `as`, in the same operation and scope, with the results of the steps before `from`. The call
 * with that key and the same payload runs the handler, which continues at `from`. Its child keys and the keys of its messages
 * are new, so other systems see the effects of the remaining steps as new ones.
 *
 * A finished original isn't changed: it keeps its answer, and only the fork's evidence names the two. Any other original never
 * runs again: it fails from then on with a `ForkedError` (HTTP 409), and its evidence names the fork. A key stays as it is if
 * it's in progress, if its messages wait, if its saga has turned back, if `as` is taken, if it was forked to another key, or if a
 * step may have happened. Repeating the same fork changes nothing, or finishes it: until then no call can claim the new key.
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) before any write;
 * StoreUnavailableError (`STORE_UNAVAILABLE`): repeat the same fork; RecordCorruptError (`RECORD_CORRUPT`).
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
  const to = forkedTo(seen);
  if (to !== undefined && to !== target) return { forked: false, state: "forked", to };
  const found = await read(target);
  const former = found && isExpired(found, at) ? undefined : found;
  const plan = planFork(seen, fork.from);
  const { fork: origin, step } = decodeEvidence(former?.evidence) ?? {};
  if (origin?.of === recordKey && step === fork.from) return { forked: true, recordKey: target, ...plan };
  const work = new Forking({ store, recordKey, target, seen, fork, at, random, asking });
  if (former && !work.hasReserved(former)) return { forked: false, state: "taken" };
  if (plan.started.length > 0 && !fork.evenThoughStarted)
    return { forked: false, state: "started", steps: plan.started };
  const steps = seen.steps as StoredSteps;
  const results = new Map<string, string | undefined>();
  for (const name of plan.copied)
    results.set(name, await asking(() => loadText(store, (steps[name] as StoredStep).result)));
  const reserved = await work.reserve(found);
  if (!reserved) return { forked: false, state: "taken" };
  const isOver = seen.state === "completed" || seen.state === "failed";
  const closed = isOver ? undefined : await work.close();
  if (closed) {
    await work.giveUp();
    return { forked: false, state: closed };
  }
  const isDone = await work.copy(plan, results, reserved);
  return isDone ? { forked: true, recordKey: target, ...plan } : { forked: false, state: "taken" };
}

/** The record key of the fork, if this record was closed by one. */
export const forkedTo = ({ evidence }: Pick<IdempotencyRecord, "evidence">): string | undefined =>
  decodeEvidence(evidence)?.fork?.to;

function refusalOf(seen: IdempotencyRecord, now: number): "in-progress" | "waiting" | "undone" | undefined {
  const status = classify(seen, { token: "", fingerprints: [seen.fingerprint], now });
  if (status === "in-progress") return status;
  const isOver = status === "completed" || status === "failed";
  // Its messages are sent, however late: until then the record doesn't expire.
  if (isOver && seen.expiresAt === undefined) return "waiting";
  return Object.keys(seen.steps ?? {}).some((name) => isMark(name, TURNED_BACK)) ? "undone" : undefined;
}

/** @throws RecordCorruptError if a stored result is missing: a step that is done must not lose it unnoticed */
async function loadText<Write>(
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

/** The new record while it's reserved. */
type Reserved = Pick<IdempotencyRecord, "attempt" | "leaseEndsAt" | "steps">;

class Forking<Write> {
  readonly #given: ForkingOptions<Write>;
  /** The same for each repetition, which so finishes what an interrupted one began. */
  readonly #token: string;
  readonly #expiresAt: number;

  constructor(given: ForkingOptions<Write>) {
    this.#given = given;
    const { recordKey, target, seen, fork, at } = given;
    const names = JSON.stringify([recordKey, target, fork.from]);
    this.#token = tokenLike(seen.token, createHash("sha256").update(names).digest("hex"));
    this.#expiresAt = Math.ceil(at / 1000 + MAX_RETENTION_SECONDS);
  }

  hasReserved(former: IdempotencyRecord | undefined): boolean {
    return isClaimOf(former, this.#token);
  }

  /**
   * Claims the new key until its record expires: no call may run with a part of the steps.
   * @returns `undefined` if another call was first
   */
  async reserve(former: IdempotencyRecord | undefined): Promise<Reserved | undefined> {
    if (this.hasReserved(former)) return former;
    const { store, target, seen, at, asking } = this.#given;
    const [token, expiresAt, leaseEndsAt] = [this.#token, this.#expiresAt, this.#expiresAt * 1000];
    const succession = successionOf(former, at);
    const { fingerprint } = seen;
    const claim = { recordKey: target, token, fingerprint, expiresAt, leaseEndsAt, ...succession };
    const answer = await asking(() => store.claim(claim, former));
    if (answer.won) return { attempt: succession.attempt, leaseEndsAt };
    return this.hasReserved(answer.record) ? answer.record : undefined;
  }

  /**
   * An unfinished original must not go on beside its fork. It keeps its steps.
   * @returns the state that it has instead, if another call was first
   */
  async close(): Promise<State | "absent" | undefined> {
    const { store, recordKey, target, seen, fork, at, random, asking } = this.#given;
    const { attempt, fingerprint } = seen;
    const token = tokenLike(seen.token, random.token());
    const claim = { recordKey, token, fingerprint, ...successionOf(seen, at), leaseEndsAt: at + LEASE_MS };
    const claimed = await asking(() => store.claim(claim, seen));
    if (!claimed.won && !isClaimOf(claimed.record, token)) return claimed.record?.state ?? "absent";
    const answer = await asking(() =>
      store.settle({
        ...{ recordKey, token, now: at, state: "failed", isListed: true },
        ...{ expiresAt: this.#expiresAt, result: encodeError(forkedError(), false) },
        ...{ writes: [], messages: [] },
        evidence: encodeEvidence({
          ...{ verdict: "unknown", by: fork.by, at, attempt, asked: ASKED.fork, answered: fork.why },
          ...{ fork: { to: target }, past: historyOf(store, seen) },
        }),
      }),
    );
    return answer.settled ? undefined : (answer.record?.state ?? "absent");
  }

  /** The reserved record expires immediately, as if it had never been there. */
  async giveUp(): Promise<void> {
    const { store, target, at, asking } = this.#given;
    await asking(() =>
      store.settle({
        ...{ recordKey: target, token: this.#token, now: at, state: "released", isListed: false },
        ...{ expiresAt: Math.floor(at / 1000), writes: [], messages: [] },
      }),
    );
  }

  /** @returns whether the steps are there and the record is released, so that it can run */
  async copy(
    { copied }: ForkPlan,
    results: ReadonlyMap<string, string | undefined>,
    reserved: Reserved,
  ): Promise<boolean> {
    const { store, recordKey, target, seen, fork, at, asking } = this.#given;
    const stored = { ...seen.steps };
    const token = this.#token;
    const { attempt } = reserved;
    let { leaseEndsAt } = reserved;
    // A record with steps comes from a store that can write them.
    const { writeStep } = store as Required<Store<Write>>;
    const steps: Record<string, StoredStep> = { ...reserved.steps };
    for (const [index, name] of copied.entries()) {
      if (steps[name]) continue;
      const isFirst = Object.keys(steps).length === 0;
      const { result: _, next, undoNext, ...marks } = stored[name] as StoredStep;
      // What comes next hasn't begun under the new key, unless it's copied too.
      const known = next !== undefined && copied.includes(next) ? { next, undoNext } : {};
      const step = { ...marks, ...known, attempt, at: at + index };
      const change = {
        recordKey: target,
        token,
        name,
        step,
        result: results.get(name),
        isFirst,
        leaseEndsAt,
      };
      const written = await asking(() =>
        writeStep.call(store, { ...change, resultExpiresAt: this.#expiresAt, writes: [] }),
      );
      if (!written.settled) return false;
      steps[name] = step;
      // Each step makes the lease a millisecond longer.
      leaseEndsAt++;
    }
    const isUnfinished = isTracked({ steps });
    const settled = await asking(() =>
      store.settle({
        ...{ recordKey: target, token, now: at, state: "released", isListed: false },
        ...(!isUnfinished && { expiresAt: this.#expiresAt }),
        evidence: encodeEvidence({
          ...{ verdict: "unknown", by: fork.by, at, attempt, asked: ASKED.fork, answered: fork.why },
          ...{ fork: { of: recordKey }, step: fork.from },
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
