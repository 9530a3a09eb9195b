// The model's traces, unchanged, on PostgreSQL and as on Aurora DSQL. Memory and DynamoDB: test/model.
import { beforeAll, describe, expect, it } from "vitest";
import type { PostgresWrite } from "../../lib/postgres/writes.ts";
import type { Ports } from "../../packages/proof/model/store-play.ts";
import { playOnEngine, playOnStore } from "../../packages/proof/model/traces-given.ts";
import { inTier } from "../setup/tier.ts";
import { hasServer } from "./given.ts";
import { portsOn, STAGES } from "./stages-given.ts";

describe.skipIf(!hasServer).each(Object.entries(STAGES))(
  "the model, on %s",
  { timeout: 900_000 },
  (name, stage) => {
    let ports: Ports<PostgresWrite<never>>;

    beforeAll(async () => {
      ports = await portsOn(stage);
    });

    it("H14: decides each request to each kind of record as the store does", async () => {
      expect((await playOnStore(ports)).differences).toEqual([]);
    });

    it("H1, H4, H7, H8: does what the engine does over the store, call by call", async () => {
      const { played, differences } = await playOnEngine(ports, inTier(101, 1));

      console.log(`over PostgresStore, on ${name}, the engine does what the model says: ${played} calls`);
      expect(differences).toEqual([]);
    });
  },
);
