// The model's worker is held to the real engine, over each store. The same call makes the same requests, gets the same answer,
// and leaves the same record. PostgreSQL and Valkey: test/postgres/model.test.ts, test/valkey/model.test.ts.
import { describe, expect, inject, it } from "vitest";
import { inTier } from "../../../test/setup/tier.ts";
import { CALLS } from "./engine-cases.ts";
import { dynamodbPorts, memoryPorts } from "./ports-given.ts";
import { playOnEngine } from "./traces-given.ts";

describe("the model's worker", { timeout: 600_000 }, () => {
  it("H1, H4, H7, H8: does what the engine does, for every record, end of the handler, and fault of a request", async () => {
    const { played, differences } = await playOnEngine(memoryPorts(), inTier(5, 1));

    console.log(
      `the engine does what the model says: ${played} calls, of ${Object.keys(CALLS).length} kinds`,
    );
    expect(differences).toEqual([]);
  });

  it.each(inject("dynamodbEngines"))(
    "does what the engine does over DynamoDBStore, on $name",
    async ({ endpoint, name }) => {
      const { played, differences } = await playOnEngine(await dynamodbPorts(endpoint), inTier(101, 5));

      console.log(`over DynamoDBStore, on ${name}, the engine does what the model says: ${played} calls`);
      expect(differences).toEqual([]);
    },
  );
});
