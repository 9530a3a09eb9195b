// Workers that come back after their lease.
import { describe, expect, it } from "vitest";
import { ClaimLostError, PermanentError } from "../../lib/core/errors.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld, pausedWorker } from "./world.ts";

describe("perform, claimed", () => {
  it("H1: a worker that comes back after its lease cannot overwrite the winner's result, and gets it", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    await world.call(async () => "winner");

    zombie.resume("zombie");

    expect((await zombie.outcome).result).toBe("winner");
    expect(await world.call(async () => "never")).toBe("winner");
    expect(world.decisions()).toEqual(["taken-over", "executed", "claim-lost", "replayed", "replayed"]);
  });

  it("H1: a worker that comes back while the winner works learns that its claim is lost", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    const winner = pausedWorker(world);
    await world.clock.advance(0);

    zombie.resume("zombie");
    await expect(zombie.outcome).rejects.toThrow(ClaimLostError);
    winner.resume("winner");

    expect((await winner.outcome).result).toBe("winner");
  });

  it("H1: a worker whose claim is lost gets the winner's final error", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    const winner = world.call(() => Promise.reject(new PermanentError("sold out")));
    await expect(winner).rejects.toThrow("sold out");

    zombie.resume("zombie");

    await expect(zombie.outcome).rejects.toThrow("sold out");
  });

  it("H1: a worker whose claim is lost does not answer with its own result when the winner's cannot be loaded", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world, { store: failing(world.memory, "loadResult", "before") });
    await world.clock.advance(35_001);
    await world.call(async () => "w".repeat(2000));

    zombie.resume("zombie");

    await expect(zombie.outcome).rejects.toThrow(ClaimLostError);
  });

  it("H2: a worker that fails late does not touch the winner's record, and answers with it", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    await world.call(async () => "winner");

    zombie.fail(new Error("late"));

    expect(await zombie.outcome).toMatchObject({ replayed: true, result: "winner" });
    expect(await world.call(async () => "never")).toBe("winner");
  });

  it("H2: a worker that fails just after its claim was lost releases nothing", async () => {
    const world = newWorld();
    // Long enough that the abort of the work does not decide first.
    const { opened, fail } = gate<unknown>();
    const zombie = world.start(() => opened, {}, { remainingMs: 60_000 });
    await world.clock.advance(0);
    const [recordKey] = world.memory.records.keys();
    world.memory.alter(recordKey!, { token: "somebody-else", attempt: 2 });

    fail(new Error("early"));

    await expect(zombie).rejects.toThrow("early");
    expect(world.record()).toMatchObject({ state: "in-progress", token: "somebody-else" });
    expect(world.decisions()).toEqual(["claim-lost"]);
  });
});
