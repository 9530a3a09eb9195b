// Commits that the store refuses, and what the handler may do then.
import { describe, expect, it } from "vitest";
import { CommitInvalidError, TransactionConditionError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { newWorld } from "./world.ts";

const MODES = ["claimed", "optimistic"] as const;
type Work = Execution<MemoryWrite>;

/** What nobody looked at while `work` ran: a process without a listener ends there. */
async function unhandledRejections(work: () => Promise<unknown>): Promise<unknown[]> {
  const others = process.rawListeners("unhandledRejection") as NodeJS.UnhandledRejectionListener[];
  const seen: unknown[] = [];
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (reason) => seen.push(reason));
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const other of others) process.on("unhandledRejection", other);
  }
  return seen;
}

describe.each(MODES)("commit, %s", (mode) => {
  const method = mode === "claimed" ? "settle" : "insert";

  it("a refused condition is the handler's own business: no store failure is reported", async () => {
    const world = newWorld({ mode });

    await world.call(async ({ commit }: Work) => {
      await commit("order", { writes: [world.orderWrite(() => false)] }).catch(() => {});
      return "sold out";
    });

    expect(world.decisions()).toEqual(["executed"]);
  });

  it("writes that the store finds invalid only when it is asked wrote nothing, and others may follow", async () => {
    const world = newWorld({ mode });
    const store = failing(world.memory, method, "before", {
      times: 1,
      error: () => new CommitInvalidError("writes[0] is not valid"),
    });

    const answer = await world.call(
      async ({ commit }: Work) => {
        await expect(commit("invalid")).rejects.toThrow(CommitInvalidError);
        return commit("valid", { writes: [world.orderWrite()] });
      },
      { store },
    );

    expect(answer).toBe("valid");
    expect(world.orders()).toBe(1);
  });

  it("rule 3: a commit that fails in an unknown way is not released, even if the handler hides it", async () => {
    const world = newWorld({ mode });
    const store = failing(world.memory, method, "after", { error: () => new TypeError("unreadable answer") });

    const work = async ({ commit }: Work) => {
      await commit("done", { writes: [world.orderWrite()] }).catch(() => {});
      throw new Error("own");
    };
    await expect(world.call(work, { store })).rejects.toThrow("unreadable answer");

    expect(world.decisions()).not.toContain("released");
    expect(await world.call(async () => "never")).toBe("done");
  });

  it("a commit that was refused before the handler ended, and at which it did not look, is not lost silently", async () => {
    const world = newWorld({ mode });

    const unhandled = await unhandledRejections(() =>
      world.call(async ({ commit }: Work) => {
        const refused = commit("order", { writes: [world.orderWrite(() => false)] });
        // Until the commit can be made again it is under way.
        for (let turn = 0; turn < 50; turn++) await null;
        expect(() => commit("again", { writes: [{} as MemoryWrite] })).toThrow("writes[0]");
        void refused;
        return "returned";
      }),
    );

    expect(unhandled).toEqual([expect.any(TransactionConditionError)]);
  });
});
