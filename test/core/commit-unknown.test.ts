// Commits whose answer is lost, or never comes.
import { describe, expect, it } from "vitest";
import { CommitInvalidError, PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { answerLost, failing } from "../kit/faults/faulty-store.ts";
import { newWorld } from "./world.ts";

const MODES = ["claimed", "optimistic"] as const;
type Work = Execution<MemoryWrite>;

describe.each(MODES)("commit, %s", (mode) => {
  it("H8: counts its own commit as done when the answer was lost, and applies its writes once", async () => {
    const world = newWorld({ mode });
    const store = answerLost(world.memory, "settle", "insert");

    const work = ({ commit }: Work) =>
      commit("done", { writes: [world.orderWrite((former) => former === undefined)] });

    expect(await world.call(work, { store })).toBe("done");
    expect(world.orders()).toBe(1);
  });

  it("repeats a commit whose answer was lost until it knows", async () => {
    const world = newWorld({ mode });
    const method = mode === "claimed" ? "settle" : "insert";
    const store = failing(world.memory, method, "after", { times: 3 });

    const work = ({ commit }: Work) => commit("done", { writes: [world.orderWrite()] });

    expect(await world.call(work, { store })).toBe("done");
    expect(world.orders()).toBe(1);
    expect(world.decisions()).toEqual(["store-failed", "store-failed", "store-failed", "executed"]);
  });

  it.each(["before", "after"] as const)(
    "a commit with an unknown outcome fails the call, even if the handler hides it (lost %s)",
    async (when) => {
      const world = newWorld({ mode });
      const method = mode === "claimed" ? "settle" : "insert";
      const store = failing(world.memory, method, when);

      const work = async ({ commit }: Work) => {
        const unknown = commit("done", { writes: [world.orderWrite()] });
        await expect(unknown).rejects.toThrow(StoreUnavailableError);
        expect(() => commit("again")).toThrow(CommitInvalidError);
        return "hidden";
      };
      await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);

      expect(world.decisions().at(-1)).toBe("outcome-unknown");
      expect(world.decisions()).not.toContain("released");
      expect(world.orders()).toBe(when === "after" ? 1 : 0);
    },
  );

  it("a handler that throws its own error over an unknown commit is not released", async () => {
    const world = newWorld({ mode });
    const store = failing(world.memory, mode === "claimed" ? "settle" : "insert", "before");

    const work = async ({ commit }: Work) => {
      await commit("done").catch(() => {});
      throw new PermanentError("own");
    };
    await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);

    expect(world.decisions()).not.toContain("released");
    expect(world.decisions()).not.toContain("executed");
  });

  it("a commit that the store refuses for good wrote nothing: the attempt is released", async () => {
    const world = newWorld({ mode });
    const method = mode === "claimed" ? "settle" : "insert";
    const store = failing(world.memory, method, "before", {
      times: 1,
      error: () => new StoreUnavailableError("refused", new Error("denied")),
    });

    await expect(world.call(({ commit }: Work) => commit("done"), { store })).rejects.toMatchObject({
      failure: "refused",
    });

    expect(world.decisions()).toEqual(["store-failed", "released"]);
  });

  it("a commit that was perhaps under way before the store found its writes invalid stays unknown", async () => {
    const world = newWorld({ mode });
    const method = mode === "claimed" ? "settle" : "insert";
    const errors = [
      new StoreUnavailableError("unreachable", undefined),
      new CommitInvalidError("writes[0] is not valid"),
    ];
    const store = failing(world.memory, method, "before", { times: 2, error: () => errors.shift() as Error });

    await expect(world.call(({ commit }: Work) => commit("done"), { store })).rejects.toMatchObject({
      failure: "unreachable",
    });

    expect(world.decisions()).toEqual(["store-failed", "outcome-unknown"]);
  });

  it("a commit that was perhaps applied before the store began to refuse stays unknown", async () => {
    const world = newWorld({ mode });
    const method = mode === "claimed" ? "settle" : "insert";
    const denied = () => new StoreUnavailableError("refused", new Error("expired token"));
    const lost = failing(world.memory, method, "after", { times: 1 });
    let tries = 0;
    const store = failing(lost, method, "before", {
      error: () => {
        throw denied();
      },
      times: 0,
    });
    const flaky = new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name !== method) return value;
        return (...parameters: unknown[]) => {
          if (++tries === 2) return Promise.reject(denied());
          return Reflect.apply(value as () => unknown, target, parameters);
        };
      },
    });

    const work = async ({ commit }: Work) => {
      await commit("first", { writes: [world.orderWrite()] }).catch(() => {});
      return commit("second", { writes: [world.orderWrite()] });
    };
    await expect(world.call(work, { store: flaky })).rejects.toMatchObject({ failure: "unreachable" });

    expect(world.orders()).toBe(1);
    expect(await world.call(async () => "never")).toBe("first");
  });
});
