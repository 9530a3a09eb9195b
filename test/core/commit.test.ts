import { describe, expect, it } from "vitest";
import {
  ClaimLostError,
  CommitInvalidError,
  PermanentError,
  ResponseNotStorableError,
  StoreUnavailableError,
  TransactionConditionError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { answerLost, failing, gate, newWorld, throttled } from "./world.ts";

const MODES = ["claimed", "optimistic"] as const;
type Work = Execution<MemoryWrite>;

describe.each(MODES)("commit, %s", (mode) => {
  it("records the result and applies the writes together, and a replay gets the result", async () => {
    const world = newWorld({ mode });
    const work = ({ commit }: Work) => commit({ id: 1 }, { writes: [world.orderWrite()] });

    expect(await world.call(work)).toEqual({ id: 1 });
    expect(await world.call(work)).toEqual({ id: 1 });

    expect(world.orders()).toBe(1);
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("commits a result without writes", async () => {
    const world = newWorld({ mode });

    expect(await world.call(({ commit }: Work) => commit("done"))).toBe("done");
    expect(world.record().state).toBe("completed");
  });

  it("resolves to the result as every caller gets it", async () => {
    const world = newWorld({ mode });
    let committed: unknown;

    await world.call(async ({ commit }: Work) => {
      committed = await commit({ a: 1, b: undefined });
    });

    expect(committed).toStrictEqual({ a: 1 });
  });

  it("answers with what was committed, whatever the handler returns or stores", async () => {
    const world = newWorld({ mode, shouldStore: () => false });

    const outcome = await world.start(async ({ commit }: Work) => {
      await commit({ a: 1 });
      return "something else";
    });

    expect(outcome).toStrictEqual({ replayed: false, result: { a: 1 }, original: { a: 1 } });
    expect(await world.call(async () => "never")).toEqual({ a: 1 });
  });

  it("refuses a second commit, also while the first is under way", async () => {
    const world = newWorld({ mode });

    await world.call(async ({ commit }: Work) => {
      const first = commit("first", { writes: [world.orderWrite()] });
      await expect(commit("second", { writes: [world.orderWrite()] })).rejects.toThrow(CommitInvalidError);
      await first;
      await expect(commit("third")).rejects.toThrow("commit was already called: commit everything at once");
    });

    expect(world.orders()).toBe(1);
    expect(await world.call(async () => "never")).toBe("first");
  });

  it("refuses a commit after the attempt has ended", async () => {
    const world = newWorld({ mode });
    let late: (() => Promise<unknown>) | undefined;

    await world.call(async ({ commit }: Work) => {
      late = () => commit("late", { writes: [world.orderWrite()] });
      return "returned";
    });

    await expect(late?.()).rejects.toThrow("this attempt is over: await commit before the handler returns");
    expect(world.orders()).toBe(0);
  });

  it("waits for a commit that the handler did not await", async () => {
    const world = newWorld({ mode });

    const answer = await world.call(async ({ commit }: Work) => {
      void commit("committed", { writes: [world.orderWrite()] });
      return "returned";
    });

    expect(answer).toBe("committed");
    expect(world.orders()).toBe(1);
  });

  it("a refused commit that the handler did not await fails the call, is not recorded, and a retry may run", async () => {
    const world = newWorld({ mode });
    const work = async ({ commit }: Work) => {
      void commit("committed", { writes: [world.orderWrite((former) => former !== undefined)] });
      return "returned";
    };

    await expect(world.call(work)).rejects.toThrow(TransactionConditionError);

    expect(world.decisions().at(-1)).toBe("released");
    expect(await world.call(async () => "mended")).toBe("mended");
  });

  it("a handler that fails beside a refused commit is released, and keeps its error", async () => {
    const world = newWorld({ mode });
    const work = async ({ commit }: Work) => {
      void commit("committed", { writes: [world.orderWrite(() => false)] });
      throw new Error("own");
    };

    await expect(world.call(work)).rejects.toThrow("own");

    expect(await world.call(async () => "mended")).toBe("mended");
  });

  it("a handler that fails after its commit throws its own error, and the retry gets what was committed", async () => {
    const world = newWorld({ mode });
    const work = async ({ commit }: Work) => {
      await commit("committed", { writes: [world.orderWrite()] });
      throw new PermanentError("after");
    };

    await expect(world.call(work)).rejects.toThrow("after");

    expect(await world.call(work)).toBe("committed");
    expect(world.orders()).toBe(1);
  });

  it("after a refused condition nothing is written, and the handler may commit something else", async () => {
    const world = newWorld({ mode });

    const answer = await world.call(async ({ commit }: Work) => {
      const refused = commit("order", { writes: [world.orderWrite(() => false)] });
      await expect(refused).rejects.toMatchObject({ code: "TRANSACTION_CONDITION", index: 0 });
      return commit("sold out", { writes: [world.orderWrite()] });
    });

    expect(answer).toBe("sold out");
    expect(world.orders()).toBe(1);
    expect(await world.call(async () => "never")).toBe("sold out");
  });

  it("after a refused condition the handler may also return, and that is recorded", async () => {
    const world = newWorld({ mode });
    const work = async ({ commit }: Work) => {
      await commit("order", { writes: [world.orderWrite(() => false)] }).catch(() => {});
      return "sold out";
    };

    expect(await world.call(work)).toBe("sold out");
    expect(await world.call(async () => "never")).toBe("sold out");
  });

  it("refuses writes that the store can never take, before any I/O, and others may follow", async () => {
    const world = newWorld({ mode });

    const answer = await world.call(async ({ commit }: Work) => {
      await expect(commit("bad", { writes: [{} as MemoryWrite] })).rejects.toThrow(CommitInvalidError);
      return commit("good", { writes: [world.orderWrite()] });
    });

    expect(answer).toBe("good");
  });

  it("H16: refuses a result that cannot be stored before anything is written", async () => {
    const world = newWorld({ mode });

    const work = ({ commit }: Work) => commit(new Map(), { writes: [world.orderWrite()] });
    await expect(world.call(work)).rejects.toThrow(ResponseNotStorableError);

    expect(world.orders()).toBe(0);
  });

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
    "a commit that nobody knows the outcome of fails the call, also if the handler hides it (lost %s)",
    async (when) => {
      const world = newWorld({ mode });
      const method = mode === "claimed" ? "settle" : "insert";
      const store = failing(world.memory, method, when);

      const work = async ({ commit }: Work) => {
        const unknown = commit("done", { writes: [world.orderWrite()] });
        await expect(unknown).rejects.toThrow(StoreUnavailableError);
        await expect(commit("again")).rejects.toThrow(CommitInvalidError);
        return "hidden";
      };
      await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);

      expect(world.decisions().at(-1)).toBe("outcome-unknown");
      expect(world.decisions()).not.toContain("released");
      expect(world.orders()).toBe(when === "after" ? 1 : 0);
    },
  );

  it("a handler that throws something of its own over an unknown commit is not released", async () => {
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

  it("H50: commit × status: a result that is not stored releases, unless something was committed", async () => {
    for (const status of [200, 404, 503]) {
      for (const commits of [true, false]) {
        const world = newWorld({ mode, shouldStore: (value) => (value as { status: number }).status < 400 });
        const work = async ({ commit }: Work) => {
          if (commits) await commit({ status }, { writes: [world.orderWrite()] });
          return { status };
        };

        const answers = [await world.call(work), await world.call(work)];

        expect(answers).toEqual([{ status }, { status }]);
        expect(world.orders()).toBe(commits ? 1 : 0);
        const runs = world.decisions().filter((decision) => decision === "released").length;
        expect([status, commits, runs]).toEqual([status, commits, !commits && status >= 400 ? 2 : 0]);
      }
    }
  });
});

describe("commit, against others", () => {
  it("H1: a commit whose claim is lost writes nothing and answers with the winner's result", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    const order =
      (result: string) =>
      async ({ commit }: Work) => {
        if (result === "zombie") await opened;
        return commit(result, { writes: [world.orderWrite()] });
      };
    const zombie = world.start(order("zombie"));
    await world.clock.advance(35_001);
    await world.call(order("winner"));

    open();

    expect((await zombie).result).toBe("winner");
    expect(world.orders()).toBe(1);
  });

  it("H1: a commit whose claim is lost to somebody who still works fails the call, also if the handler hides it", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    const zombie = world.start(async ({ commit }: Work) => {
      await opened;
      await expect(commit("zombie", { writes: [world.orderWrite()] })).rejects.toThrow(ClaimLostError);
      return "hidden";
    });
    await world.clock.advance(35_001);
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);

    open();

    await expect(zombie).rejects.toThrow(ClaimLostError);
    expect(world.orders()).toBe(0);
    expect(world.record()).toMatchObject({ state: "in-progress", attempt: 2 });
  });

  it("of two optimistic runs at once one commits, and both get its result", async () => {
    const world = newWorld({ mode: "optimistic" });
    const { opened, open } = gate();
    const order =
      (result: string) =>
      async ({ commit }: Work) => {
        await opened;
        return commit(result, { writes: [world.orderWrite((former) => former === undefined)] });
      };
    const both = [world.start(order("one")), world.start(order("two"))];
    await world.clock.advance(0);

    open();

    const answers = (await Promise.all(both)).map(({ result }) => result);
    expect(answers).toEqual(["one", "one"]);
    expect(world.orders()).toBe(1);
    expect(world.decisions()).toEqual(["executed", "claim-lost", "replayed"]);
  });

  it("of two unprotected runs at once one commits, and both get its result", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    const store = failing(world.memory, "claim", "before", { error: throttled });
    const { opened, open } = gate();
    const order =
      (result: string) =>
      async ({ commit }: Work) => {
        await opened;
        return commit(result, { writes: [world.orderWrite()] });
      };
    const both = [world.start(order("one"), { store }), world.start(order("two"), { store })];
    await world.clock.advance(0);

    open();

    expect((await Promise.all(both)).map(({ result }) => result)).toEqual(["one", "one"]);
    expect(world.orders()).toBe(1);
  });
});
