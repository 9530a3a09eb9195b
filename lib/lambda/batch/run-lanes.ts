/** Runs lanes in parallel, and the items of each in order, as long as the batch has time. */

/**
 * A lane ends when `runItem` returns `stop`, and may go on later if it returns `wait`. `rest` is that item and all after
 * it.
 */
export type RunItem<Item> = (item: Item, rest: readonly Item[]) => Promise<"done" | "stop" | "wait">;

/** Resolves to the rest of the waiting lanes. */
export async function runLanes<Item>(
  lanes: readonly (readonly Item[])[],
  concurrency: number,
  canStart: () => boolean,
  runItem: RunItem<Item>,
): Promise<readonly (readonly Item[])[]> {
  const toRun = lanes.values();
  const waiting: (readonly Item[])[] = [];
  /** Resolves to whether there is time for another lane. */
  async function runLane(lane: readonly Item[]): Promise<boolean> {
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
