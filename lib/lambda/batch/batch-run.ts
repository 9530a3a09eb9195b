/** Runs one batch: which items are done, and what happens to the others. */
import type { Work } from "../../core/attempt.ts";
import { remainingMsOf } from "../../core/clock.ts";
import { reportDecision } from "../../core/decisions.ts";
import { agedCall } from "../../core/message-age.ts";
import type { CallInput } from "../../core/ongoing-call.ts";
import { DEFAULTS } from "../../core/options.ts";
import { quietly } from "../../core/unawaited.ts";
import type { BatchSettings } from "./batch-settings.ts";
import { type BatchTime, batchTime } from "./batch-time.ts";
import type { BatchItem, Lane } from "./item.ts";
import { runLanes } from "./run-lanes.ts";
import { type RecordEnd, readItem, runRecord } from "./run-record.ts";
import { hideUntil } from "./visibility.ts";

/** How long a held message stays hidden. It waits for an operator, and shouldn't use up its receives. */
const PARKED_MS = 900_000;

/** The result of a batch. */
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
  /** Duplicates of a key in one batch wait for each other; otherwise each would find the other in progress. */
  readonly #running = new Map<string, Promise<RecordEnd>>();
  /** The fingerprints of finished records, by record key. */
  readonly #finished = new Map<string, CallInput["fingerprints"]>();

  constructor(settings: BatchSettings<Write>, context: unknown, workOf: (item: BatchItem) => Work<Write>) {
    this.#settings = settings;
    this.#context = context;
    this.#workOf = workOf;
  }

  /** Resolves in time for the batch to respond. */
  async run(lanes: readonly Lane[]): Promise<BatchEnd> {
    const { reading, deadlineMarginMs } = this.#settings;
    const time = batchTime(reading.options.clock, remainingMsOf(this.#context), deadlineMarginMs);
    const over = new AbortController();
    await Promise.race([this.#runAll(lanes, time), time.untilAnswer(over.signal)]);
    over.abort();
    const left = lanes.flat().filter((item) => !this.#done.has(item));
    return { left, inProgress: left.filter((item) => this.#elsewhere.has(item)).length };
  }

  /** If there are more lanes than may run at the same time, lanes that wait for another attempt's lease come last. */
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
    if (ended.end !== "done") this.#report(ended.error, item);
    if (ended.end === "held") await this.#hide(rest, this.#settings.reading.options.clock.now() + PARKED_MS);
    const isDone =
      ended.end === "done" || (ended.end === "final-error" && this.#settings.acknowledgesFinalErrors);
    if (isDone) this.#done.add(item);
    return isDone ? "done" : "stop";
  }

  /** `undefined` if there was no time left to start. */
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

  /** Duplicates of a record that this batch has finished need no store request, because nothing reads their results. */
  #isDone({ identity, fingerprints }: CallInput): boolean {
    const { observe, shouldStore } = this.#settings.reading.options;
    const finished = this.#finished.get(identity.recordKey);
    // An outcome that isn't stored isn't final, so a duplicate runs.
    if (finished?.[0] !== fingerprints[0] || shouldStore !== DEFAULTS.shouldStore) return false;
    reportDecision(observe, identity, { decision: "replayed", durationMs: 0 });
    return true;
  }

  /**
   * Hides a message with all later ones in its group. A message that comes back while a later one is in flight is
   * delivered immediately, and would find the same lease again.
   */
  async #hide(rest: Lane, leaseEndsAt: number): Promise<void> {
    const { changeVisibility, reading } = this.#settings;
    if (changeVisibility === undefined) return;
    try {
      await hideUntil(leaseEndsAt, rest, reading.options.clock, changeVisibility);
    } catch (error) {
      this.#report(error, rest[0] as BatchItem);
    }
  }

  #report(error: unknown, item: BatchItem): void {
    quietly(() => this.#settings.onRecordError(error, item));
  }
}
