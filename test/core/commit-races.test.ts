// Commits that meet other attempts of the same key.
import { describe, expect, it } from "vitest";
import { ClaimLostError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing, throttled } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

type Work = Execution<MemoryWrite>;

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

  it("H1: a commit whose claim is lost to a running attempt fails the call, even if the handler hides it", async () => {
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
    expect(world.decisions()).toEqual(["taken-over", "claim-lost"]);
  });

  it("of two simultaneous optimistic runs one commits, and both get its result", async () => {
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

  it("of two simultaneous unprotected runs one commits, and both get its result", async () => {
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
