// The races of test/core, unchanged, on PostgreSQL and as on Aurora DSQL: under every interleaving that fast-check can think of.
import fc from "fast-check";
import { beforeAll, describe, it } from "vitest";
import type { PostgresWrite } from "../../lib/postgres/writes.ts";
import type { Ports } from "../../packages/proof/model/store-play.ts";
import { RACE_PROMISES, raceProperty } from "../core/plays/race-promises.ts";
import { racedOn } from "../core/plays/raced-store.ts";
import { STORE_HAZARDS } from "../core/plays/store-hazards.ts";
import { inTier } from "../setup/tier.ts";
import { hasServer } from "./given.ts";
import { portsOn, STAGES } from "./stages-given.ts";

describe.skipIf(!hasServer).each(Object.entries(STAGES))("on %s", { timeout: 300_000 }, (_, stage) => {
  let ports: Ports<PostgresWrite<never>>;

  beforeAll(async () => {
    ports = await portsOn(stage);
  });

  it.each(RACE_PROMISES)("$name", async (promise) => {
    await fc.assert(
      raceProperty(promise, () => racedOn(ports)),
      { numRuns: inTier(20, 700) },
    );
  });

  it.each(STORE_HAZARDS)("$name", ({ check }) => check(ports));
});
