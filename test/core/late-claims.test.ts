/** A copy of a claim that arrives long after the claim was refused, when the key has become free. */
import { describe, expect, it } from "vitest";
import { gate, intercepted, newWorld } from "./world.ts";

describe("whenInProgress: { waitSeconds }", () => {
  it("H8: stops before the lease that an earlier claim of its own has put on the record", async () => {
    const world = newWorld({ whenInProgress: { waitSeconds: 60 }, leaseSeconds: 30 });
    const { opened, fail } = gate();
    const winner = world.start(() => opened);
    await world.clock.advance(0);
    let copy: (() => Promise<unknown>) | undefined;
    const store = intercepted(world.memory, (method, request) => {
      if (method === "claim") copy ??= request;
      return request();
    });
    let stoppedAt = 0;
    const waiter = world.start(
      async ({ signal }) => {
        await world.clock.sleep(300_000, signal);
        stoppedAt = world.clock.now();
      },
      { store },
    );
    await world.clock.advance(10_000);

    fail(new Error("try again"));
    await winner.catch(() => {});
    await copy?.();
    const { leaseEndsAt } = world.record();
    await world.clock.run(waiter.catch(() => {}));

    expect(stoppedAt).toBeGreaterThan(0);
    expect(stoppedAt).toBeLessThanOrEqual(leaseEndsAt - 5000);
  });
});
