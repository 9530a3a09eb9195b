/** One batch: which of its items are done, and what becomes of the others. */
import type { Work } from "../../core/attempt.ts";
import { remainingMsOf } from "../../core/clock.ts";
import { tellObserver } from "../../core/decisions.ts";
import { agedCall } from "../../core/message-age.ts";
import type { CallInput } from "../../core/ongoing-call.ts";
import { DEFAULTS } from "../../core/options.ts";
import type { BatchSettings } from "./batch-settings.ts";
import { type BatchTime, batchTime } from "./batch-time.ts";
import type { BatchItem, Lane } from "./item.ts";
import { runLanes } from "./run-lanes.ts";
import { type RecordEnd, readItem, runRecord } from "./run-record.ts";
import { hideUntil } from "./visibility.ts";

/** How long a held message stays hidden. It waits for the person who resolves it, and is not to use up its receives. */
const PARKED_MS = 900_000;

/** What came of a batch. */
export interface BatchEnd {
  /** The items that are not done, though some may still run. */
  readonly left: readonly BatchItem[];
  /** How many of them were found to be in progress elsewhere. */
  readonly inProgress: number;
}

export class BatchRun<Write> {
  readonly #settings: BatchSettings<Write>;
  readonly #context: unknown;
  readonly #workOf: (item: BatchItem) => Work<Write>;
  readonly #done = new Set<BatchItem>();
  readonly #elsewhere = new Set<BatchItem>();
  /** Duplicates of a key in one batch wait for each other, or each would be in progress for the next. */
  readonly #running = new Map<string, Promise<RecordEnd>>();
  /** The fingerprints of what is done, by the keys of the records. */
  readonly #finished = new Map<string, CallInput["fingerprints"]>();

  constructor(settings: BatchSettings<Write>, context: unknown, workOf: (item: BatchItem) => Work<Write>) {
    this.#settings = settings;
    this.#context = context;
    this.#workOf = workOf;
  }

  /** Resolves in time for an answer. */
  async run(lanes: readonly Lane[]): Promise<BatchEnd> {
    const { reading, marginMs } = this.#settings;
    const time = batchTime(reading.options.clock, remainingMsOf(this.#context), marginMs);
    const over = new AbortController();
    await Promise.race([this.#runAll(lanes, time), time.untilAnswer(over.signal)]);
    over.abort();
    const left = lanes.flat().filter((item) => !this.#done.has(item));
    return { left, inProgress: left.filter((item) => this.#elsewhere.has(item)).length };
  }

  /** With more lanes than may run at once, those that wait for somebody else's lease come after those that can go on. */
  async #runAll(lanes: readonly Lane[], time: BatchTime): Promise<void> {
    const { concurrency } = this.#settings;
    const runOf = (waits: boolean) => (item: BatchItem, rest: Lane) => this.#runItem(item, rest, time, waits);
    const waiting = await runLanes(lanes, concurrency, time.canStart, runOf(lanes.length <= concurrency));
    await runLanes(waiting, concurrency, time.canStart, runOf(true));
  }

  async #runItem(
    item: BatchItem,
    rest: Lane,
    time: BatchTime,
    waits: boolean,
  ): Promise<"done" | "stop" | "wait"> {
    const ended = await this.#endOf(item, time, waits);
    if (ended === undefined) return "stop";
    if (ended.end === "in-progress") {
      this.#elsewhere.add(item);
      if (item.receipt === undefined) return waits ? "stop" : "wait";
      await this.#hide(rest, ended.leaseEndsAt);
      return "stop";
    }
    if (ended.end !== "done") this.#tell(ended.error, item);
    if (ended.end === "held") await this.#hide(rest, this.#settings.reading.options.clock.now() + PARKED_MS);
    const isDone =
      ended.end === "done" || (ended.end === "final-error" && this.#settings.acknowledgesFinalErrors);
    if (isDone) this.#done.add(item);
    return isDone ? "done" : "stop";
  }

  /** `undefined` when there was no time left to start. */
  async #endOf(item: BatchItem, time: BatchTime, waits: boolean): Promise<RecordEnd | undefined> {
    const { reading, whileUnhidden, whenKeyExpired } = this.#settings;
    try {
      const call = readItem(this.#settings, item, this.#context);
      const { recordKey } = call.identity;
      while (this.#running.has(recordKey)) await this.#running.get(recordKey);
      if (!time.canStart()) return undefined;
      if (this.#isDone(call)) return { end: "done" };
      const engineOptions = waits && item.receipt === undefined ? whileUnhidden : reading.options;
      const { options, about } = agedCall(engineOptions, item.committedAt, { whenKeyExpired });
      const remainingMs = remainingMsOf(this.#context);
      const inTime = { ...call, ...about, remainingMs, waitUntil: time.startUntil };
      const running = runRecord(options, inTime, this.#workOf(item));
      this.#running.set(recordKey, running);
      const ended = await running;
      this.#running.delete(recordKey);
      if (ended.end === "done") this.#finished.set(recordKey, call.fingerprints);
      return ended;
    } catch (error) {
      return { end: "failed", error };
    }
  }

  /** A record that this batch has done answers its duplicates without being asked: nobody reads their results. */
  #isDone({ identity, fingerprints }: CallInput): boolean {
    const { observe, shouldStore } = this.#settings.reading.options;
    const finished = this.#finished.get(identity.recordKey);
    // An end that is not stored is not final, and a duplicate runs.
    if (finished?.[0] !== fingerprints[0] || shouldStore !== DEFAULTS.shouldStore) return false;
    tellObserver(observe, identity, { decision: "replayed", durationMs: 0 });
    return true;
  }

  /**
   * Hides a message with all that is behind it in its group. A message that comes back while a later one is in flight
   * is handed out at once, and would find the same lease again.
   */
  async #hide(rest: Lane, leaseEndsAt: number): Promise<void> {
    const { changeVisibility, reading } = this.#settings;
    if (changeVisibility === undefined) return;
    try {
      await hideUntil(leaseEndsAt, rest, reading.options.clock, changeVisibility);
    } catch (error) {
      this.#tell(error, rest[0] as BatchItem);
    }
  }

  #tell(error: unknown, item: BatchItem): void {
    try {
      this.#settings.onRecordError(error, item);
    } catch {
      // Watching does not change an outcome.
    }
  }
}
