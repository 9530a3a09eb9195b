// Expired keys in the optimistic mode.
import { describe, expect, it } from "vitest";
import { ClaimLostError, IdempotencyKeyInvalidError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { gate } from "../kit/time/gate.ts";
import { counting, newWorld } from "./world.ts";

type Work = Execution<MemoryWrite>;

const optimistic = (options: Parameters<typeof newWorld>[0] = {}) =>
  newWorld({ mode: "optimistic", ...options });

describe("perform, optimistic", () => {
  it.each([true, false])(
    "H5: replaces an expired record and reports it, with lookFirst %s",
    async (lookFirst) => {
      const world = optimistic({ retentionSeconds: 60, lookFirst });
      await world.call(async () => "old");
      await world.clock.advance(60_000);

      expect(await world.call(async () => "new")).toBe("new");

      expect(world.decisions()).toEqual(["executed", "key-expired", "executed"]);
      expect(await world.call(async () => "never")).toBe("new");
    },
  );

  it.each([true, false])(
    "H40: refuses an expired key before it runs, with lookFirst %s",
    async (lookFirst) => {
      const world = optimistic({ retentionSeconds: 60, lookFirst, whenKeyExpired: "reject" });
      await world.call(async () => "old");
      await world.clock.advance(60_000);
      let runs = 0;

      await expect(world.call(async () => ++runs)).rejects.toThrow(IdempotencyKeyInvalidError);

      expect(runs).toBe(0);
    },
  );

  it("replaces an expired record that it saw by one insertion", async () => {
    const world = optimistic({ retentionSeconds: 60 });
    const { requests, store } = counting(world);
    await world.call(async () => "old");
    await world.clock.advance(60_000);

    await world.call(async () => "new", { store });

    expect(requests).toEqual(["find", "insert"]);
  });

  it("replaces only once an expired record that another call replaced in between, and doesn't try a second time", async () => {
    const world = optimistic({ retentionSeconds: 60 });
    const { requests, store } = counting(world);
    await world.call(async () => "old");
    await world.clock.advance(60_000);
    const { opened, open } = gate<string>();
    const slow = world.start(() => opened, { store });
    await world.clock.advance(0);
    await world.call(async () => "new");

    open("slow");

    expect((await slow).result).toBe("new");
    expect(requests).toEqual(["find", "insert"]);
  });

  it("inserts again when the expired record is deleted while it runs", async () => {
    const world = optimistic({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(60_000);

    const answer = await world.call(async ({ commit }) => {
      world.memory.alter([...world.memory.records.keys()][0]!, undefined);
      return commit("new", { writes: [world.orderWrite()] });
    });

    expect(answer).toBe("new");
    expect(world.orders()).toBe(1);
    expect(world.record()).toMatchObject({ state: "completed", attempt: 1 });
  });

  it("a record that disappears while it is reported as the winner's leaves the claim lost", async () => {
    const world = optimistic();
    const { requests, store } = counting(world, async (method, request) =>
      method === "insert" ? { settled: false, record: undefined } : request(),
    );

    await expect(world.call(async () => "done", { store })).rejects.toThrow(ClaimLostError);
    expect(requests).toEqual(["find", "insert"]);
  });

  it("H43: a run that outlives the retention of what it looked for records nothing", async () => {
    const world = optimistic({ retentionSeconds: 60 });
    const { opened, open } = gate();
    const order =
      (result: string) =>
      async ({ commit }: Work) => {
        if (result === "zombie") await opened;
        return commit(result, { writes: [world.orderWrite()] });
      };
    const zombie = world.start(order("zombie"));
    await world.clock.advance(1000);
    await world.call(order("winner"));
    await world.clock.advance(61_000);
    world.memory.alter([...world.memory.records.keys()][0]!, undefined);

    open();

    await expect(zombie).rejects.toThrow(ClaimLostError);
    expect(world.orders()).toBe(1);
  });

  it.each([
    [59_999, 1],
    [60_000, 0],
  ])("H43: of a run of %i ms under a retention of 60 s %i effects are recorded", async (ms, orders) => {
    const world = optimistic({ retentionSeconds: 60, leaseSeconds: 120 });
    const work = async ({ commit }: Work) => {
      await world.clock.sleep(ms);
      return commit("done", { writes: [world.orderWrite()] });
    };

    const call = world.call(work);

    if (orders === 0) await expect(call).rejects.toThrow(ClaimLostError);
    else expect(await call).toBe("done");
    expect(world.orders()).toBe(orders);
  });
});
