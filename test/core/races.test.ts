// The engine over MemoryStore under every interleaving that fast-check can think of. Requests arrive and answers
// return in any order, are lost, fail, or their worker stops for ever. Time jumps to whatever somebody sleeps for.
// The same on servers: test/dynamodb/races.test.ts, test/postgres/races.test.ts, test/valkey/races.test.ts.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SettleAnswer, Settlement } from "../../lib/core/store.ts";
import { MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { inTier } from "../setup/tier.ts";
import { CLAIMED_COMMITS, LIVE_ATTEMPTS, RACE_PROMISES, raceProperty } from "./plays/race-promises.ts";
import { racedMemory } from "./plays/raced-store.ts";

const RUNS = { numRuns: inTier(150, 700) };

describe("races", () => {
  it.each(RACE_PROMISES)("$name", async (promise) => {
    await fc.assert(
      raceProperty(promise, () => racedMemory()),
      RUNS,
    );
  });

  it("a store that forgets the token in its condition is found out", async () => {
    const property = raceProperty(CLAIMED_COMMITS, () => racedMemory(new TokenlessStore()));

    const { failed } = await fc.check(property, RUNS);

    expect(failed).toBe(true);
  });

  it("detects a store that takes over live leases", async () => {
    const property = raceProperty(LIVE_ATTEMPTS, () => racedMemory(new ImpatientStore()));

    const { failed } = await fc.check(property, RUNS);

    expect(failed).toBe(true);
  });
});

/** Negative control: whoever settles last wins, as with an update that has no condition. */
class TokenlessStore extends MemoryStore {
  override settle(settlement: Settlement<MemoryWrite>): Promise<SettleAnswer> {
    const token = this.records.get(settlement.recordKey)?.token ?? settlement.token;
    this.alter(settlement.recordKey, { state: "in-progress" });
    return super.settle({ ...settlement, token });
  }
}

/** Negative control: a lease means nothing. */
class ImpatientStore extends MemoryStore {
  override async claim(...parameters: Parameters<MemoryStore["claim"]>) {
    const [{ recordKey }] = parameters;
    if (this.records.get(recordKey)?.state === "in-progress") this.alter(recordKey, { leaseEndsAt: 0 });
    return super.claim(...parameters);
  }
}
