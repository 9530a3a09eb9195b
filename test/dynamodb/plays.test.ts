// The races of test/core, unchanged, on DynamoDB: under every interleaving that fast-check can think of.
import fc from "fast-check";
import { describe, inject, it } from "vitest";
import { dynamodbPorts } from "../../packages/proof/model/ports-given.ts";
import { RACE_PROMISES, raceProperty } from "../core/plays/race-promises.ts";
import { racedOn } from "../core/plays/raced-store.ts";
import { STORE_HAZARDS } from "../core/plays/store-hazards.ts";
import { inTier } from "../setup/tier.ts";

describe.each(inject("dynamodbEngines"))("on $name", { timeout: 600_000 }, ({ endpoint }) => {
  it.each(RACE_PROMISES)("$name", async (promise) => {
    const ports = await dynamodbPorts(endpoint);

    await fc.assert(
      raceProperty(promise, () => racedOn(ports)),
      { numRuns: inTier(20, 300) },
    );
  });

  it.each(STORE_HAZARDS)("$name", async ({ check }) => check(await dynamodbPorts(endpoint)));
});
