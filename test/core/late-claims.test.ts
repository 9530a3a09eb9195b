/** Copies of a claim that arrive late: a token claims once. */
import { describe, expect, it } from "vitest";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

describe("answers 7: a copy of a claim that arrives late", () => {
  const copied = (world: ReturnType<typeof newWorld>) => {
    const copies: (() => Promise<unknown>)[] = [];
    const store = intercepted(world.memory, (method, request) => {
      if (method === "claim") copies.push(request);
      return request();
    });
    return { copies, store };
  };

  it("H8: after its release, does not lock the key, neither for the same payload nor for a corrected one", async () => {
    const world = newWorld();
    const { copies, store } = copied(world);
    await world.call(() => Promise.reject(new Error("invalid")), { store }).catch(() => {});

    await copies[0]?.();

    expect(world.record()).toMatchObject({ state: "released", attempt: 1 });
    expect(await world.call(async () => "mended", {}, { input: "mended" })).toBe("mended");
  });

  it("H8: of a take-over, after its release, does not lock the key", async () => {
    const world = newWorld();
    const { copies, store } = copied(world);
    const fail = () => Promise.reject(new Error("again"));
    await world.call(fail, { store }).catch(() => {});
    await world.call(fail, { store }).catch(() => {});

    for (const copy of copies) await copy();

    expect(copies).toHaveLength(3);
    expect(world.record()).toMatchObject({ state: "released", attempt: 2 });
    expect(await world.call(async ({ attempt }) => attempt)).toBe(3);
  });

  it("H8: of a waiter that went on, changes nothing for its successor", async () => {
    const world = newWorld({ whenInProgress: { waitSeconds: 60 }, leaseSeconds: 30 });
    const { opened, fail } = gate();
    const winner = world.start(() => opened);
    await world.clock.advance(0);
    const { copies, store } = copied(world);
    const waiter = world.start(async ({ attempt }) => attempt, { store });
    await world.clock.advance(10_000);
    fail(new Error("try again"));
    await winner.catch(() => {});

    await copies[0]?.();
    await world.clock.run(waiter);

    expect(await waiter).toMatchObject({ result: 2 });
  });

  it("H8: a take-over whose response was lost keeps the lease of the copy that came first", async () => {
    const world = newWorld({ leaseSeconds: 30 });
    await world.call(() => Promise.reject(new Error("again"))).catch(() => {});
    let first: (() => Promise<unknown>) | undefined;
    const store = intercepted(world.memory, async (method, request, [, seen]) => {
      if (method !== "claim" || !seen) return request();
      if (!first) {
        // Under way: the transaction of somebody else is in front of it.
        first = request;
        return { won: false, record: world.record() };
      }
      await world.clock.advance(10_000);
      await first();
      return request();
    });
    let stoppedAt = 0;

    const running = world.start(
      async ({ signal }) => {
        await world.clock.sleep(300_000, signal);
        stoppedAt = world.clock.now();
      },
      { store },
    );
    await world.clock.advance(0);
    const { leaseEndsAt } = world.record();
    await world.clock.run(running.catch(() => {}));

    expect(stoppedAt).toBeGreaterThan(0);
    expect(stoppedAt).toBeLessThanOrEqual(leaseEndsAt - 5000);
  });
});
