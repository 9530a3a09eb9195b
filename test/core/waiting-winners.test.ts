// A call that waits while the key changes hands.
import { describe, expect, it } from "vitest";
import { FingerprintMismatchError } from "../../lib/core/errors.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { newWorld, pausedWorker, type World } from "./world.ts";

const waiting = (options: Parameters<typeof newWorld>[0] = {}) =>
  newWorld({ whenInProgress: { waitSeconds: 20 }, ...options });

const recordKeyOf = (world: World) => [...world.memory.records.keys()][0]!;

describe("whenInProgress: { waitSeconds }", () => {
  it("runs when the winner releases the key", async () => {
    const world = waiting();
    const winner = world.start(async () => {
      await world.clock.sleep(1000);
      throw new Error("again");
    });
    await world.clock.advance(0);

    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    await expect(winner).rejects.toThrow("again");
  });

  it("waits for the next winner when another one takes over", async () => {
    const world = waiting({ leaseSeconds: 5, clockSkewSeconds: 0 });
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    const second = world.start(async () => {
      await world.clock.sleep(3000);
      return "second";
    });
    const third = world.start(async () => "third");

    await world.clock.advance(20_000);

    expect([(await second).result, (await third).result]).toContain("second");
    expect(new Set([(await second).result, (await third).result]).size).toBe(1);
  });

  it("waits on however many winners release the key before its turn comes", async () => {
    const world = waiting();
    pausedWorker(world);
    await world.clock.advance(0);
    const released = { ...world.record(), state: "released" };
    let refusals = 0;
    const store = intercepted(world.memory, async (method, request) => {
      if (refusals === 7) {
        if (method === "find") world.memory.alter(recordKeyOf(world), undefined);
        return request();
      }
      if (method === "find") return released;
      return { won: false, record: { ...world.record(), token: `winner ${++refusals}` } };
    });

    expect(await world.call(async () => "mine", { store })).toBe("mine");
  });

  it("learns at its next look that the key was released and claimed for another payload", async () => {
    const world = waiting();
    const first = pausedWorker(world);
    await world.clock.advance(0);
    const duplicate = world.start(async () => "never");
    await world.clock.advance(0);

    first.fail(new Error("invalid"));
    await expect(first.outcome).rejects.toThrow("invalid");
    world.start(() => new Promise(() => {}), {}, { input: "mended" });
    await world.clock.advance(50);

    expect(world.decisions()).toEqual(["released", "mismatch"]);
    await expect(duplicate).rejects.toThrow(FingerprintMismatchError);
  });

  it("starts again when the record disappears", async () => {
    const world = waiting();
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    const call = world.start(async ({ attempt }) => attempt);
    await world.clock.advance(0);

    world.memory.alter(recordKeyOf(world), undefined);
    await world.clock.advance(1000);

    expect((await call).result).toBe(1);
  });
});
