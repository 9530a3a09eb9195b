// What is no list of effects is refused at once, in words, and nothing is written or lost.
import { describe, expect, it } from "vitest";
import { CommitInvalidError } from "../../../lib/core/errors.ts";
import type { CommitEffects, Execution } from "../../../lib/core/execution.ts";
import type { MemoryWrite } from "../../../lib/testing/index.ts";
import { newWorld } from "../world.ts";

type Work = Execution<MemoryWrite>;
type Effects = CommitEffects<MemoryWrite>;

class Effect {
  readonly writes = [];
}

describe.each(["claimed", "optimistic"] as const)("answers 17: commit, %s", (mode) => {
  it.each([
    ["null", null, /expects the result first, then \{ writes, messages \} \(got null/],
    ["a list", [], /got an empty array/],
    ["a list of writes", [{ table: "orders", key: "1", item: {} }], /got an array of 1 item/],
    ["a promise", Promise.resolve({ writes: [] }), /got a promise/],
    ["a map", new Map(), /got an object/],
    ["a class", new Effect(), /got an object/],
    ["an instance of no name", Object.create(Object.create(Object.create(null))), /got an object/],
    ["a function", () => ({ writes: [] }), /got a function/],
    ["text", "writes", /got a string of 6 characters/],
    ["a number", 1, /got 1 /],
    ["a misspelt name", { write: [] }, /`write` isn't a field of a commit/],
    [
      "writes of null",
      { writes: null },
      /`writes` of a commit must be an array \(got null\): leave `writes` out/,
    ],
    ["one write", { writes: { table: "orders" } }, /`writes` of a commit must be an array \(got an object/],
    ["writes in a set", { writes: new Set() }, /`writes` of a commit must be an array \(got an object/],
    ["messages of null", { messages: null }, /`messages` of a commit must be an array \(got null/],
    ["one message", { messages: {} }, /`messages` of a commit must be an array \(got an object/],
    [
      "text for messages",
      { messages: "none" },
      /`messages` of a commit must be an array \(got a string of 4 characters/,
    ],
    ["a function for a store that has none", { writes: async () => {} }, /writes\[0\] must have table/],
    ["a function for messages", { messages: () => [] }, /messages\[0\]/],
    ["a hole among the writes", { writes: new Array(1) }, /writes\[0\]/],
    ["nothing among the writes", { writes: [null] }, /writes\[0\]/],
    ["a hole among the messages", { messages: new Array(1) }, /messages\[0\]/],
    ["nothing among the messages", { messages: [null] }, /messages\[0\]/],
  ])("rejects %s, and says what to pass", async (_, effects, message) => {
    const world = newWorld({ mode });
    const seen: unknown[] = [];

    const answer = await world.call(async ({ commit }: Work) => {
      try {
        await commit("order", effects as Effects);
      } catch (error) {
        seen.push(error);
      }
      return commit("mended", { writes: [world.orderWrite()] });
    });

    expect(seen).toEqual([expect.any(CommitInvalidError)]);
    expect((seen[0] as Error).message).toMatch(message);
    expect([answer, world.orders()]).toEqual(["mended", 1]);
  });

  it.each<[string, Effects | undefined]>([
    ["nothing", undefined],
    ["an empty object", {}],
    ["fields that are undefined", { writes: undefined, messages: undefined } as unknown as Effects],
    ["empty lists", { writes: [], messages: [] }],
    ["an object without a prototype", Object.assign(Object.create(null), { writes: [] })],
  ])("doesn't mistake %s for effects", async (_, effects) => {
    const world = newWorld({ mode });

    expect(await world.call(({ commit }: Work) => commit("order", effects))).toBe("order");
    expect(world.record().state).toBe("completed");
  });
});
