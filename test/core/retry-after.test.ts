// After how many seconds a caller should come back whose key is in progress: half of the claim's age, within the lease.
import { describe, expect, it } from "vitest";
import { ExecutionInProgressError } from "../../lib/core/errors.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { never } from "./abandoned-given.ts";
import { newWorld, type World } from "./world.ts";

const endless = () => new Promise<never>(() => {});

async function retryAfter(world: World, options: Partial<EngineOptions> = {}): Promise<number> {
  const error: unknown = await world.call(never, options as object).catch((refusal) => refusal);
  if (!(error instanceof ExecutionInProgressError)) throw error;
  return error.retryAfterSeconds;
}

/** A call that has had its claim for so many seconds. */
async function underWay(seconds: number, options: Partial<EngineOptions> = {}) {
  const world = newWorld({ leaseSeconds: 60, clockSkewSeconds: 5, ...(options as object) });
  world.start(endless);
  await world.clock.advance(seconds * 1000);
  return world;
}

describe("retryAfterSeconds", () => {
  it.each([
    [0, 1],
    [1, 1],
    [2, 1],
    [3, 2],
    [20, 10],
    [60, 5],
    [64.5, 1],
  ])("after %s seconds of a lease of 65 is %s", async (seconds, wanted) => {
    expect(await retryAfter(await underWay(seconds))).toBe(wanted);
  });

  it("doesn't depend on the lease of the caller that has to wait", async () => {
    expect(await retryAfter(await underWay(20), { leaseSeconds: 10 })).toBe(10);
  });

  it("is 10 at most", async () => {
    expect(await retryAfter(await underWay(2000, { leaseSeconds: 3600 }))).toBe(10);
  });

  it("counts from the takeover of an abandoned key", async () => {
    const world = await underWay(66);
    world.start(endless);
    await world.clock.advance(4000);

    expect(world.record().attempt).toBe(2);
    expect(await retryAfter(world)).toBe(2);
    // With a longer lease of its own, a call can only assume that the key was taken over when it was created.
    expect(await retryAfter(world, { leaseSeconds: 3600 })).toBe(10);
  });

  it("is a second if the record of another store lacks a time", async () => {
    const world = await underWay(20);
    const [[name, record] = []] = world.memory.records as Map<string, object>;
    (world.memory.records as Map<string, object>).set(`${name}`, { ...record, createdAt: undefined });

    expect(await retryAfter(world)).toBe(1);
  });
});
