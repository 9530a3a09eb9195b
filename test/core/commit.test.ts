import { describe, expect, it } from "vitest";
import {
  CommitInvalidError,
  PermanentError,
  ResponseNotStorableError,
  TransactionConditionError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { newWorld } from "./world.ts";

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

  it("answers with the committed result, whatever the handler returns or stores", async () => {
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
      expect(() => commit("second", { writes: [world.orderWrite()] })).toThrow(CommitInvalidError);
      await first;
      expect(() => commit("third")).toThrow(
        "commit was already called: pass all writes and messages to a single commit",
      );
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

    expect(late).toThrow("this attempt has ended: await commit before the handler returns");
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

  it("a handler that fails next to a refused commit is released, and keeps its error", async () => {
    const world = newWorld({ mode });
    const work = async ({ commit }: Work) => {
      void commit("committed", { writes: [world.orderWrite(() => false)] });
      throw new Error("own");
    };

    await expect(world.call(work)).rejects.toThrow("own");

    expect(await world.call(async () => "mended")).toBe("mended");
  });

  it("a handler that fails after its commit throws its own error, and the retry gets the committed result", async () => {
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

  it("rejects writes that the store can never accept, before any I/O, and others may follow", async () => {
    const world = newWorld({ mode });

    const answer = await world.call(async ({ commit }: Work) => {
      expect(() => commit("bad", { writes: [{} as MemoryWrite] })).toThrow(CommitInvalidError);
      expect(() => commit("bad", { mesages: [] } as object)).toThrow("`mesages` isn't a field of a commit");
      return commit("good", { writes: [world.orderWrite()] });
    });

    expect(answer).toBe("good");
  });

  it("an invalid commit that the handler does not await fails the handler", async () => {
    const world = newWorld({ mode });

    const call = world.call(async ({ commit }: Work) => {
      void commit("lost", { writes: [{} as MemoryWrite] });
      return "returned";
    });

    await expect(call).rejects.toThrow(CommitInvalidError);
    expect(await world.call(async () => "ran again")).toBe("ran again");
  });

  it.each<[string, object]>([
    ["writes", { writes: [{}] }],
    ["messages", { messages: [] }],
    ["both", { writes: [], messages: undefined }],
    ["a function that writes", { writes: () => {} }],
  ])(
    "refuses %s in the place of the result before any I/O, and the result may follow",
    async (_, effects) => {
      const world = newWorld({ mode });

      const answer = await world.call(({ commit }: Work) => {
        expect(() => commit(effects)).toThrow(
          "commit expects the result first, then { writes, messages } (got only { writes, messages }): pass `undefined` as the result, or add `{}` as the second argument if this object is the result",
        );
        expect(() => commit(effects, undefined)).toThrow(CommitInvalidError);
        return commit("order", { writes: [world.orderWrite()] });
      });

      expect(answer).toBe("order");
      expect(world.orders()).toBe(1);
    },
  );

  it.each<[string, unknown]>([
    ["no list", { writes: 3 }],
    ["a field more", { messages: ["hello"], id: 1 }],
    ["a longer name", { overwrites: [] }],
    ["another longer name", { messagesSent: [] }],
    ["no field", {}],
    ["a list", [{ writes: [] }]],
    ["no value", undefined],
  ])("accepts a result that looks like effects and has %s", async (_, result) => {
    const world = newWorld({ mode });

    expect(await world.call(({ commit }: Work) => commit(result))).toEqual(result);
  });

  it("accepts a result that looks like effects next to real effects, and no result", async () => {
    const chat = { messages: ["hello"] };

    expect(await newWorld({ mode }).call(({ commit }: Work) => commit(chat, {}))).toEqual(chat);
    const world = newWorld({ mode });
    const none = ({ commit }: Work) => commit(undefined, { writes: [world.orderWrite()] });
    expect(await world.call(none)).toBeUndefined();
    expect(world.orders()).toBe(1);
  });

  it.each<[string, string, object]>([
    ["mesages", "messages", { writes: [], mesages: [{}] }],
    ["write", "writes", { write: [] }],
  ])("refuses effects it does not know, and names them: %s", async (name, meant, effects) => {
    const world = newWorld({ mode });

    await expect(world.call(({ commit }: Work) => commit("sent", effects))).rejects.toThrow(
      `\`${name}\` isn't a field of a commit (did you mean \`${meant}\`?)`,
    );
  });

  it("H16: refuses a result that cannot be stored before anything is written", async () => {
    const world = newWorld({ mode });

    const work = ({ commit }: Work) => commit(new Map(), { writes: [world.orderWrite()] });
    await expect(world.call(work)).rejects.toThrow(ResponseNotStorableError);
    await expect(world.call(async () => "never")).rejects.toMatchObject({ code: "RESPONSE_NOT_STORABLE" });

    expect(world.orders()).toBe(0);
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
