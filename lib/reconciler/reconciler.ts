/** The reconciler: a Lambda handler on a schedule that settles keys whose outcome nobody knows. */
import { remainingMsOf } from "../core/clock.ts";
import { ending, REQUEST_MS } from "../core/ending.ts";
import { hasCode } from "../core/error-code.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { namesOf } from "../core/identity.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import type { CrossChecked } from "../core/record-cache.ts";
import { storeLease } from "../core/store-lease.ts";
import { persist } from "../core/take-unknown.ts";
import { Turn } from "../core/turn.ts";
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

/** The keys of one run, by how they ended. */
export interface ReconcilerReport {
  /** Their effects happened: completed, or given back behind a step that happened. */
  happened: number;
  /** Given back: their effects did not happen. */
  didNotHappen: number;
  /** Asked about, and still held: nobody knows. */
  unknown: number;
  /** Left alone: asked about a while ago, for a person to decide, or held for a step that nobody here is asked about. */
  waiting: number;
  /** Nobody can be asked: their operation has no entry in `operations`, or their record cannot be read. */
  unasked: number;
  /** The store failed before the verdict was on record. */
  unrecorded: number;
  /** The time was over before all keys were looked at: the next run goes on. */
  isCut: boolean;
  /** Another reconciler of the same operations was at work, so this run left everything to it. */
  isSkipped: boolean;
  /** Only where the store is `cached` with a cache of all processes: what became of its entries. */
  cache?: CacheReport;
}

/** Entries of a cache that were compared with the store, up to 1000 in a run. */
export interface CacheReport {
  confirmed: number;
  /** The store did not confirm them: they were deleted from the cache. */
  dropped: number;
  /** The store did not answer. */
  unchecked: number;
  /** The cache did not answer any more. */
  failed: boolean;
}

type Count = Exclude<keyof ReconcilerReport, "isCut" | "isSkipped" | "cache">;

/** The others are left to later runs, or to their end. */
const MAX_CROSS_CHECKS = 1000;

/**
 * A handler for a schedule, such as once a minute. It settles keys that are held, and keys whose attempt was abandoned,
 * whether or not anybody calls again. It finds both by the store's `unknownOutcomes`. It takes each key over under a fresh
 * token, which fences the abandoned attempt, and asks the `verify` of its operation. What happened is completed with its result.
 * What did not happen is given back, so that a retry runs. What nobody knows is held, and asked about again, after pauses
 * that double up to a quarter of an hour. A verdict about a
 * step gives the key back, and a retry goes on behind the step.
 *
 * It works within the remaining time of its invocation. The next one goes on, with the keys that have waited longest.
 * Several may run: those of the same operations take turns by a lease in the store, since each would read every key. A run whose
 * turn it isn't reports `isSkipped`, and emits no event. A reconciler that dies delays the others by half a minute. Callers work
 * beside it: only one of them all takes a key over. Each run tells how many keys are left, and for how long nobody has known about
 * the oldest.
 *
 * A store that is `cached` with a cache of all processes is compared with it by each run. What the store does not confirm is dropped
 * from the cache.
 *
 * The function needs the rights of `grantResolving`: `dynamodb:Query` on the index of unknown outcomes, and on the table
 * `dynamodb:GetItem`, `dynamodb:UpdateItem` and, for large results and the lease, `dynamodb:PutItem`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws StoreUnavailableError (`STORE_UNAVAILABLE`) when
 * the unknown outcomes cannot be listed.
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
  new RecordCorruptError("the record is damaged, or of a version that this code does not know");

/** Kept for the write that records a verdict. */
const MAX_RECORD_MS = 6000;

/** Reconcilers take turns if they settle the same keys, in the same way. */
function turnOf<Write>(settings: ReconcilerSettings<Write>, remainingMs: () => number): Turn {
  const { store, clock, random, operations } = settings;
  const asked = Array.from(operations, ([name, { verify, steps = {} }]) =>
    JSON.stringify([name, typeof verify === "function", Object.keys(steps).sort()]),
  );
  const { crossCheck } = store as CrossChecked;
  const lease = storeLease(store, "reconciler", typeof crossCheck, ...asked.sort());
  const id = random.token();
  const invocation = () => ({ id, now: clock.now(), until: clock.now() + remainingMs() });
  // The lease only saves work: each key still has to be taken. So a store that fails, or rights that don't reach, stop nothing.
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
    // A short invocation has smaller shares, or it would never begin.
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
    // Work that still ran after the answer would be frozen with the process, and go on in another invocation.
    const ends = await Promise.allSettled(Array.from({ length: concurrency }, goOn));
    const failed = ends.find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    this.report.isCut = !isDone;
    await this.#crossCheck();
    this.#tellUnsettled();
  }

  /** The store is the truth: a cache may hold what was deleted, changed or restored behind it. */
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
    this.#tell({ event: "cache-checked", ...report });
  }

  /** Each key once, although the list begins anew where the store fails: an outage of a moment would cost a whole run. */
  async *#listed(): AsyncGenerator<UnknownOutcome, void> {
    const { store, clock, random, minAgeSeconds } = this.#settings;
    const before = this.#startedAt - minAgeSeconds * 1000;
    const told = new Set<string>();
    // A store of a reconciler has unknown outcomes.
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
      const next = await persist({ clock, random }, clock.now() + this.#patience.recordMs, nextOf);
      if (next.done) return;
      const { recordKey } = next.value;
      if (told.has(recordKey)) continue;
      told.add(recordKey);
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
      this.#tellKey(end.outcome, outcome);
    } catch (error) {
      const event = hasCode(error, "RECORD_CORRUPT") ? "unasked" : "unrecorded";
      this.#leave(event, outcome, event, error);
    }
  }

  #leave(count: Count, outcome: UnknownOutcome, event?: ReconciledKeyEvent["event"], error?: unknown): void {
    this.report[count]++;
    this.#oldest = Math.min(this.#oldest, unknownSince(outcome));
    if (event) this.#tellKey(event, outcome, error);
  }

  #tellKey(event: ReconciledKeyEvent["event"], outcome: UnknownOutcome, error?: unknown): void {
    const { operation, keyHash } = namesOf(outcome.recordKey);
    this.#tell({ event, operation, keyHash, unknownMs: this.#msSince(unknownSince(outcome)), error });
  }

  #tellUnsettled(): void {
    const { unknown, waiting, unasked, unrecorded } = this.report;
    const keys = unknown + waiting + unasked + unrecorded;
    this.#tell({ event: "unsettled", keys, unasked, oldestMs: keys === 0 ? 0 : this.#msSince(this.#oldest) });
  }

  #msSince(since: number): number {
    return Math.max(0, this.#settings.clock.now() - since);
  }

  #tell(event: ReconcilerEvent): void {
    try {
      this.#settings.observe(event);
    } catch {
      // An observer does not change an outcome.
    }
  }
}
