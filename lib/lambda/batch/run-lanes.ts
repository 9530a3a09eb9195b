/** Runs lanes next to each other and what is in one of them in order, as long as the batch has time. */
import type { BatchItem, Lane } from "./item.ts";

/**
 * A lane ends where `runItem` says that an item is not done. The lane may go on later where `runItem` says that the
 * item has to wait. `rest` is that item and all behind it.
 */
export type RunItem = (item: BatchItem, rest: Lane) => Promise<"done" | "stop" | "wait">;

/** Resolves to what is left of the lanes that wait. */
export async function runLanes(
  lanes: readonly Lane[],
  concurrency: number,
  canStart: () => boolean,
  runItem: RunItem,
): Promise<readonly Lane[]> {
  const toRun = lanes.values();
  const waiting: Lane[] = [];
  /** Resolves to whether there is time for another lane. */
  async function runLane(lane: Lane): Promise<boolean> {
    for (const [index, item] of lane.entries()) {
      if (!canStart()) return false;
      const rest = lane.slice(index);
      const end = await runItem(item, rest);
      if (end === "wait") waiting.push(rest);
      if (end !== "done") return true;
    }
    return true;
  }
  async function runNextLanes(): Promise<void> {
    for (const lane of toRun) {
      if (!(await runLane(lane))) return;
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, lanes.length) }, runNextLanes));
  return waiting;
}
