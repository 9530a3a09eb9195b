import { describe, expect, it } from "vitest";
import { NestedExecutionError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { openFrame, refuseNested, runInside } from "../../lib/core/nesting.ts";
import { gate, newWorld } from "./world.ts";

const one = identify("pay", "tenant", "one");
const two = identify("pay", "tenant", "two");

describe("nested operations", () => {
  it("H51: an operation inside itself with the same key errors clearly, and the outer one is released", async () => {
    const world = newWorld();
    const inner = () => world.start(async () => "inner");

    await expect(world.call(inner)).rejects.toThrow(NestedExecutionError);
    await expect(world.call(inner)).rejects.toThrow('operation "create-order" runs inside itself');

    expect(world.record().state).toBe("released");
  });

  it("H51: notices it through another operation, and in both modes", async () => {
    for (const mode of ["claimed", "optimistic"] as const) {
      const world = newWorld({ mode });
      const innermost = () => world.start(async () => "innermost");
      const middle = async () => (await world.start(innermost, {}, { key: "key-2" })).result;

      await expect(world.call(middle)).rejects.toThrow(NestedExecutionError);
    }
  });

  it("H51: inner operations with a key, scope or operation of their own run", async () => {
    const world = newWorld();
    const work = async () =>
      Promise.all([
        world.start(async () => "key", {}, { key: "key-2" }),
        world.start(async () => "scope", {}, { scope: "tenant-2" }),
        world.start(async () => "operation", { operation: "charge" }),
      ]).then((outcomes) => outcomes.map(({ result }) => result));

    expect(await world.call(work)).toEqual(["key", "scope", "operation"]);
  });

  it("H51: what an operation leaves behind may start it again later", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    let later: Promise<unknown> | undefined;
    await world.call(async () => {
      later = opened.then(() => world.start(async () => "never"));
      return "first";
    });

    open();

    expect(await later).toMatchObject({ replayed: true, result: "first" });
  });

  it("H51: a second call beside the first one is not nested", async () => {
    const world = newWorld();
    const { opened, open } = gate<string>();
    const first = world.start(() => opened);
    await world.clock.advance(0);

    await expect(world.call(async () => "second")).rejects.toThrow("in progress");
    open("first");

    expect((await first).result).toBe("first");
  });
});

describe("openFrame", () => {
  it("marks what follows in the same async context, from enter until leave", async () => {
    await runInside(two, async () => {
      const frame = openFrame();
      refuseNested(one);

      frame.enter(one);
      await Promise.resolve();
      expect(() => refuseNested(one)).toThrow(NestedExecutionError);
      expect(() => refuseNested(two)).toThrow(NestedExecutionError);

      frame.leave();
      refuseNested(one);
      expect(() => refuseNested(two)).toThrow(NestedExecutionError);
    });
  });

  it("marks nothing outside", async () => {
    const inside = async () => {
      await Promise.resolve();
      openFrame().enter(one);
    };

    await inside();

    refuseNested(one);
  });
});
