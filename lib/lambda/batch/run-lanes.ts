/** Runs lanes next to each other and what is in one of them in order, as long as the batch has time. */
import type { Item, Lane } from "./item.ts";

/** A lane ends where `runItem` says that an item is not done; `rest` is that item and all behind it. */
export type RunItem = (item: Item, rest: Lane) => Promise<"done" | "stop">;

export async function runLanes(
  lanes: readonly Lane[],
  concurrency: number,
  canStart: () => boolean,
  runItem: RunItem,
): Promise<void> {
  const waiting = lanes.values();
  async function runWaitingLanes(): Promise<void> {
    for (const lane of waiting) {
      for (const [index, item] of lane.entries()) {
        if (!canStart()) return;
        if ((await runItem(item, lane.slice(index))) === "stop") break;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, lanes.length) }, runWaitingLanes));
}
