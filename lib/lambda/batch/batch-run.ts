/** One batch: which of its items are done, and what becomes of the others. */
import type { Work } from "../../core/execution.ts";
import type { LambdaContext } from "../context.ts";
import type { BatchSettings } from "./batch-settings.ts";
import { batchTime } from "./batch-time.ts";
import type { Item, Lane } from "./item.ts";
import { runLanes } from "./run-lanes.ts";
import { type RecordEnd, readItem, runRecord } from "./run-record.ts";
import { hideUntil } from "./visibility.ts";

export class BatchRun<Write> {
  readonly #settings: BatchSettings<Write>;
  readonly #context: unknown;
  readonly #workOf: (record: unknown) => Work<Write>;
  readonly #done = new Set<Item>();
  /** Duplicates of a key in one batch wait for each other, or each would be in progress for the next. */
  readonly #running = new Map<string, Promise<RecordEnd>>();

  constructor(settings: BatchSettings<Write>, context: unknown, workOf: (record: unknown) => Work<Write>) {
    this.#settings = settings;
    this.#context = context;
    this.#workOf = workOf;
  }

  /** Resolves to the items that are not done, in time for an answer, though some may still run then. */
  async run(lanes: readonly Lane[]): Promise<readonly Item[]> {
    const { reading, concurrency, marginMs } = this.#settings;
    const time = batchTime(reading.options.clock, this.#remainingMs(), marginMs);
    const over = new AbortController();
    const running = runLanes(lanes, concurrency, time.canStart, (item, rest) =>
      this.#runItem(item, rest, time.canStart),
    );
    await Promise.race([running, time.untilAnswer(over.signal)]);
    over.abort();
    return lanes.flat().filter((item) => !this.#done.has(item));
  }

  async #runItem(item: Item, rest: Lane, canStart: () => boolean): Promise<"done" | "stop"> {
    const ended = await this.#endOf(item, canStart);
    if (ended === undefined) return "stop";
    if (ended.end === "in-progress") {
      await this.#hide(rest, ended.leaseEndsAt);
      return "stop";
    }
    if (ended.end !== "done") this.#tell(ended.error, item);
    const isDone =
      ended.end === "done" || (ended.end === "final-error" && this.#settings.acknowledgesFinalErrors);
    if (isDone) this.#done.add(item);
    return isDone ? "done" : "stop";
  }

  /** `undefined` when there was no time left to start. */
  async #endOf(item: Item, canStart: () => boolean): Promise<RecordEnd | undefined> {
    const { reading } = this.#settings;
    try {
      const call = readItem(reading, item, this.#context);
      const { recordKey } = call.identity;
      while (this.#running.has(recordKey)) await this.#running.get(recordKey);
      if (!canStart()) return undefined;
      const remaining = { ...call, remainingMs: this.#remainingMs() };
      const running = runRecord(reading.options, remaining, this.#workOf(item.record));
      this.#running.set(recordKey, running);
      const ended = await running;
      this.#running.delete(recordKey);
      return ended;
    } catch (error) {
      return { end: "failed", error };
    }
  }

  /**
   * With all that is behind it in its group: a message that comes back while a later one is in flight is handed out
   * at once, and would find the same lease again.
   */
  async #hide(rest: Lane, leaseEndsAt: number): Promise<void> {
    const { changeVisibility, reading } = this.#settings;
    if (changeVisibility === undefined) return;
    try {
      await hideUntil(leaseEndsAt, rest, reading.options.clock, changeVisibility);
    } catch (error) {
      this.#tell(error, rest[0] as Item);
    }
  }

  #tell(error: unknown, { record }: Item): void {
    try {
      this.#settings.onRecordError(error, record);
    } catch {
      // Watching does not change an outcome.
    }
  }

  #remainingMs(): number | undefined {
    return (this.#context as Partial<LambdaContext> | undefined)?.getRemainingTimeInMillis?.();
  }
}
