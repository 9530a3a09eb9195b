/** The reconciler: a Lambda handler on a schedule that settles keys with an unknown outcome. */
import { remainingMsOf } from "../core/clock.ts";
import { ending, REQUEST_MS } from "../core/ending.ts";
import { hasCode } from "../core/error-code.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { namesOf } from "../core/identity.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import type { CrossChecked } from "../core/record-cache.ts";
import { storeLease } from "../core/store-lease.ts";
import { retryUntil } from "../core/take-unknown.ts";
import { Turn } from "../core/turn.ts";
import { quietly } from "../core/unawaited.ts";
import type { UnknownOutcome } from "../core/unknown-outcome.ts";
import { isDue, type KeyPatience, questionsOf, reconcileKey, unknownSince } from "./reconcile-key.ts";
import {
  type ReconciledKeyEvent,
  type ReconciledOperation,
  type ReconcilerEvent,
  type ReconcilerOptions,
  type ReconcilerSettings,
  reconcilerSettingsOf,
} from "./reconciler-options.ts";

/** The keys of one run, by outcome. */
export interface ReconcilerReport {
  /** Their effects happened: completed, or released after a step that happened. */
  happened: number;
  /** Released: their effects did not happen. */
  didNotHappen: number;
  /** Asked about, and still held: the outcome is still unknown. */
  unknown: number;
  /** Skipped: asked about recently, left for an operator to decide, or held for a step without a verifier here. */
  waiting: number;
  /** No verifier: their operation has no entry in `operations`, or their record can't be read. */
  unasked: number;
  /** The store failed before the verdict was recorded. */
  unrecorded: number;
  /** Time ran out before all keys were looked at: the next run continues. */
  isCut: boolean;
  /** Another reconciler of the same operations was running, so this run left everything to it. */
  isSkipped: boolean;
  /** Only if the store is `cached` with a shared cache: the outcome for its entries. */
  cache?: CacheReport;
}

/** Cache entries that were compared with the store, up to 1000 per run. */
export interface CacheReport {
  confirmed: number;
  /** Entries that the store did not confirm: they were deleted from the cache. */
  dropped: number;
  /** The store did not answer. */
  unchecked: number;
  /** Whether the cache stopped answering. */
  failed: boolean;
}

type Count = Exclude<keyof ReconcilerReport, "isCut" | "isSkipped" | "cache">;

/** The others are left to later runs, or until they expire. */
const MAX_CROSS_CHECKS = 1000;

/**
 * A handler for a schedule, for example once a minute. It settles keys that are held, and keys whose attempt was abandoned,
 * whether or not a caller retries. It finds both with the store's `unknownOutcomes`. It takes each key over with a new token,
 * which fences off the abandoned attempt, and asks the `verify` of its operation. If the effect happened, the key is completed
 * with its result. If it did not, the key is released, so that a retry runs. If that is still unknown, the key is held and asked
 * about again, after pauses that double up to a quarter of an hour. A verdict about a step releases the key, and a retry
 * continues after the step.
 *
 * It works within the remaining time of its invocation. The next one continues, with the keys that have waited longest. Several
 * reconcilers may run: those of the same operations take turns with a lease in the store, because each would read every key. A
 * run whose turn it isn't reports `isSkipped`, and emits no event. A reconciler that dies delays the others by half a minute.
 * Callers can work at the same time: only one of them all takes a key over. Each run reports how many keys are left, and how
 * long the oldest has been unknown.
 *
 * If the store is `cached` with a shared cache, each run compares the cache with the store, and drops entries that the store
 * doesn't confirm.
 *
 * The function needs the permissions of `grantResolving`: `dynamodb:Query` on the index of unknown outcomes, and on the table
 * `dynamodb:GetItem`, `dynamodb:UpdateItem` and, for large results and the lease, `dynamodb:PutItem`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. The handler throws StoreUnavailableError (`STORE_UNAVAILABLE`) when
 * the unknown outcomes can't be listed.
 */
export function reconciler<Write = unknown>(
  options: ReconcilerOptions<Write>,
): (event?: unknown, context?: TimedContext) => Promise<ReconcilerReport> {
  const settings = reconcilerSettingsOf(options);
  return async function reconcileHandler(_event, context) {
    const run = new ReconcilerRun(settings, context);
    await run.work();
    return run.report;
  };
}

const unreadable = () =>
  new RecordCorruptError("the record is damaged, or has a version that this code doesn't support");

/** Reserved for the write that records a verdict. */
const MAX_RECORD_MS = 6000;

/** Reconcilers that settle the same keys in the same way take turns. */
function turnOf<Write>(settings: ReconcilerSettings<Write>, remainingMs: () => number): Turn {
  const { store, clock, random, operations } = settings;
  const asked = Array.from(operations, ([name, { verify, steps = {} }]) =>
    JSON.stringify([name, typeof verify === "function", Object.keys(steps).sort()]),
  );
  const { crossCheck } = store as CrossChecked;
  const lease = storeLease(store, "reconciler", typeof crossCheck, ...asked.sort());
  const id = random.token();
  const invocation = () => ({ id, now: clock.now(), until: clock.now() + remainingMs() });
  // The lease only saves work, because each key still has to be taken over. So a failing store or missing permissions stop
  // nothing.
  return new Turn((each) => lease(each).catch(() => true), clock, invocation);
}

class ReconcilerRun<Write> {
  readonly report: ReconcilerReport = {
    happened: 0,
    didNotHappen: 0,
    unknown: 0,
    waiting: 0,
    unasked: 0,
    unrecorded: 0,
    isCut: false,
    isSkipped: false,
  };
  readonly #settings: ReconcilerSettings<Write>;
  readonly #remainingMs: () => number;
  readonly #patience: KeyPatience;
  readonly #startedAt: number;
  readonly #turn: Turn;
  #oldest = Number.POSITIVE_INFINITY;

  constructor(settings: ReconcilerSettings<Write>, context: TimedContext | undefined) {
    this.#remainingMs = () => remainingMsOf(context) ?? Number.POSITIVE_INFINITY;
    const patienceMs = () => Math.min(REQUEST_MS, Math.max(1000, this.#remainingMs() - 500));
    this.#settings = { ...settings, store: ending(settings.store, patienceMs) };
    const atFirst = this.#remainingMs();
    // A short invocation gets smaller shares, or it would never begin.
    const verifyMs = Math.min(settings.verifyTimeoutSeconds * 1000, atFirst / 2);
    this.#patience = { verifyMs, recordMs: Math.min(MAX_RECORD_MS, atFirst / 4) };
    this.#startedAt = settings.clock.now();
    this.#turn = turnOf(settings, this.#remainingMs);
  }

  async work(): Promise<void> {
    this.report.isSkipped = !(await this.#turn.isMine());
    if (this.report.isSkipped) return;
    try {
      await this.#settle();
    } finally {
      await this.#turn.end();
    }
  }

  async #settle(): Promise<void> {
    const { concurrency } = this.#settings;
    const listed = this.#listed();
    let isDone = false;
    const goOn = async () => {
      while (this.#hasTime() && (await this.#turn.isMine())) {
        const next = await listed.next();
        isDone ||= next.done === true;
        if (next.done) return;
        await this.#treat(next.value);
      }
    };
    // Work still running after the answer would be frozen with the process, and continue in another invocation.
    const ends = await Promise.allSettled(Array.from({ length: concurrency }, goOn));
    const failed = ends.find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    this.report.isCut = !isDone;
    await this.#crossCheck();
    this.#reportUnsettled();
  }

  /** The store is the source of truth: a cache may contain records that were since deleted, changed or restored in the store. */
  async #crossCheck(): Promise<void> {
    const checks = (this.#settings.store as CrossChecked).crossCheck?.();
    if (!checks) return;
    const report: CacheReport = { confirmed: 0, dropped: 0, unchecked: 0, failed: false };
    this.report.cache = report;
    try {
      for (let checked = 0; checked < MAX_CROSS_CHECKS && this.#hasTime(); checked++) {
        const next = await checks.next();
        if (next.done) break;
        report[next.value]++;
      }
    } catch {
      report.failed = true;
    }
    this.#report({ event: "cache-checked", ...report });
  }

  /** Yields each key once, although the list restarts if the store fails: otherwise a short outage would cost a whole run. */
  async *#listed(): AsyncGenerator<UnknownOutcome, void> {
    const { store, clock, random, minAgeSeconds } = this.#settings;
    const before = this.#startedAt - minAgeSeconds * 1000;
    const reported = new Set<string>();
    // A reconciler's store always has unknown outcomes.
    const list = () =>
      (store as Required<typeof store>).unknownOutcomes?.({ before })[Symbol.asyncIterator]();
    let listing: AsyncIterator<UnknownOutcome> | undefined;
    const nextOf = async () => {
      listing ??= list() as AsyncIterator<UnknownOutcome>;
      try {
        return await listing.next();
      } catch (error) {
        listing = undefined;
        throw error;
      }
    };
    while (true) {
      const next = await retryUntil({ clock, random }, clock.now() + this.#patience.recordMs, nextOf);
      if (next.done) return;
      const { recordKey } = next.value;
      if (reported.has(recordKey)) continue;
      reported.add(recordKey);
      yield next.value;
    }
  }

  #hasTime(): boolean {
    const { verifyMs, recordMs } = this.#patience;
    return this.#remainingMs() >= verifyMs + recordMs;
  }

  async #treat(outcome: UnknownOutcome): Promise<void> {
    const { operations, clock } = this.#settings;
    const operation = operations.get(namesOf(outcome.recordKey).operation);
    if (outcome.state === "unreadable") return this.#leave("unasked", outcome, "unasked", unreadable());
    if (!operation) return this.#leave("unasked", outcome, "unasked");
    const isForPerson = questionsOf(operation, outcome).length === 0;
    if (isForPerson || !isDue(outcome, clock.now(), this.#settings)) return this.#leave("waiting", outcome);
    return this.#ask(outcome, operation);
  }

  async #ask(outcome: UnknownOutcome, operation: ReconciledOperation): Promise<void> {
    try {
      const end = await reconcileKey(this.#settings, outcome, operation, this.#patience);
      if (!end) return;
      if (end.outcome === "unknown") return this.#leave("unknown", outcome, "unknown", end.error);
      this.report[end.outcome === "happened" ? "happened" : "didNotHappen"]++;
      this.#reportKey(end.outcome, outcome);
    } catch (error) {
      const event = hasCode(error, "RECORD_CORRUPT") ? "unasked" : "unrecorded";
      this.#leave(event, outcome, event, error);
    }
  }

  #leave(count: Count, outcome: UnknownOutcome, event?: ReconciledKeyEvent["event"], error?: unknown): void {
    this.report[count]++;
    this.#oldest = Math.min(this.#oldest, unknownSince(outcome));
    if (event) this.#reportKey(event, outcome, error);
  }

  #reportKey(event: ReconciledKeyEvent["event"], outcome: UnknownOutcome, error?: unknown): void {
    const { operation, keyHash } = namesOf(outcome.recordKey);
    this.#report({ event, operation, keyHash, unknownMs: this.#msSince(unknownSince(outcome)), error });
  }

  #reportUnsettled(): void {
    const { unknown, waiting, unasked, unrecorded } = this.report;
    const keys = unknown + waiting + unasked + unrecorded;
    this.#report({
      event: "unsettled",
      keys,
      unasked,
      oldestMs: keys === 0 ? 0 : this.#msSince(this.#oldest),
    });
  }

  #msSince(since: number): number {
    return Math.max(0, this.#settings.clock.now() - since);
  }

  #report(event: ReconcilerEvent): void {
    quietly(() => this.#settings.observe(event));
  }
}
