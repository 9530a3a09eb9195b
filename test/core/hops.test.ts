// What a call costs the process besides its requests: each promise is a turn of the queue and a few hundred bytes.
import { createHook } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";

/** Counts what `act` makes of asynchronous resources, by their type. */
async function countHops(act: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const hook = createHook({
    init: (_, type) => {
      counts[type] = (counts[type] ?? 0) + 1;
    },
  });
  hook.enable();
  try {
    await act();
  } finally {
    hook.disable();
  }
  return counts;
}

describe("a call", () => {
  const options = { operation: "create-order", store: new MemoryStore(), leaseSeconds: 30 };

  it("creates no more than 27 promises to run, 17 to replay, and no timer", async () => {
    const call = (key: number) => () => runOnce(options, `${key}`, { total: 12 }, () => ({ id: "1" }));
    const least: Record<string, number>[] = [];

    // The test runner is at work in the same process: the least of a few is the call's own.
    for (let key = 0; key < 10; key++) {
      for (const run of [0, 1]) {
        const { PROMISE = 0, ...others } = await countHops(call(key));
        const known = least[run] ?? { PROMISE, others: Infinity };
        const count = Object.values(others).reduce((sum, each) => sum + each, 0);
        least[run] = { PROMISE: Math.min(known.PROMISE!, PROMISE), others: Math.min(known.others!, count) };
      }
    }

    expect(least.map(({ others }) => others)).toEqual([0, 0]);
    expect(least[0]?.PROMISE).toBeLessThanOrEqual(27);
    expect(least[1]?.PROMISE).toBeLessThanOrEqual(17);
  });
});
