/** The reconciler: a Lambda handler on a schedule that settles keys whose outcome nobody knows. */
import { remainingMsOf } from "../core/clock.ts";
import { hasCode } from "../core/error-code.ts";
import { RecordCorruptError } from "../core/errors.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import type { UnknownOutcome } from "../core/unknown-outcome.ts";
import {
  isDue,
  type KeyPatience,
  namesOf,
  questionsOf,
  reconcileKey,
  unknownSince,
} from "./reconcile-key.ts";
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
}

type Count = Exclude<keyof ReconcilerReport, "isCut">;

/**
 * A handler for a schedule, such as once a minute. It settles keys that are held, and keys whose attempt was abandoned,
 * whether or not anybody calls again. It finds both by the store's `unknownOutcomes`. It takes each key over under a fresh
 * token, which fences the abandoned attempt, and asks the `verify` of its operation. What happened is completed with its result.
 * What did not happen is given back, so that a retry runs. What nobody knows is held, and asked about again, after pauses
 * that double up to a quarter of an hour. A verdict about a
 * step gives the key back, and a retry goes on behind the step.
 *
 * It works within the remaining time of its invocation. The next one goes on, with the keys that have waited longest.
 * Reconcilers and callers may work side by side: of all one takes the key over. Each run tells how many keys are left, and
 * for how long nobody has known about the oldest.
 *
 * The function needs the rights of `grantResolving`: `dynamodb:Query` on the index of unknown outcomes, and on the table
 * `dynamodb:GetItem`, `dynamodb:UpdateItem` and, for large results, `dynamodb:PutItem`.
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

class ReconcilerRun<Write> {
  readonly report: ReconcilerReport = {
    happened: 0,
    didNotHappen: 0,
    unknown: 0,
    waiting: 0,
    unasked: 0,
    unrecorded: 0,
    isCut: false,
  };
  readonly #settings: ReconcilerSettings<Write>;
  readonly #remainingMs: () => number;
  readonly #patience: KeyPatience;
  readonly #startedAt: number;
  #oldest = Number.POSITIVE_INFINITY;

  constructor(settings: ReconcilerSettings<Write>, context: TimedContext | undefined) {
    this.#settings = settings;
    this.#remainingMs = () => remainingMsOf(context) ?? Number.POSITIVE_INFINITY;
    const atFirst = this.#remainingMs();
    // A short invocation has smaller shares, or it would never begin.
    const verifyMs = Math.min(settings.verifyTimeoutSeconds * 1000, atFirst / 2);
    this.#patience = { verifyMs, recordMs: Math.min(MAX_RECORD_MS, atFirst / 4) };
    this.#startedAt = settings.clock.now();
  }

  async work(): Promise<void> {
    const { store, minAgeSeconds, concurrency } = this.#settings;
    const before = this.#startedAt - minAgeSeconds * 1000;
    const listed = store
      .unknownOutcomes?.({ before })
      [Symbol.asyncIterator]() as AsyncIterator<UnknownOutcome>;
    let isDone = false;
    const goOn = async () => {
      while (this.#hasTime()) {
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
    this.#tellUnsettled();
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
