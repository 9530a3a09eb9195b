// The races of test/core, unchanged, on Valkey or Redis: under every interleaving that fast-check can think of.
import fc from "fast-check";
import { describe, it } from "vitest";
import { RACE_PROMISES, raceProperty } from "../core/plays/race-promises.ts";
import { racedOn } from "../core/plays/raced-store.ts";
import { STORE_HAZARDS } from "../core/plays/store-hazards.ts";
import { inTier } from "../setup/tier.ts";
import { hasServer } from "./given.ts";
import { portsOnValkey } from "./stages-given.ts";

describe.skipIf(!hasServer)("on Valkey or Redis", { timeout: 300_000 }, () => {
  it.each(RACE_PROMISES)("$name", async (promise) => {
    const ports = await portsOnValkey();

    await fc.assert(
      raceProperty(promise, () => racedOn(ports)),
      { numRuns: inTier(20, 700) },
    );
  });

  it.each(STORE_HAZARDS)("$name", async ({ check }) => check(await portsOnValkey()));
});
