// The model's traces, unchanged, on Valkey or Redis. Memory and DynamoDB: test/model.
import { describe, expect, it } from "vitest";
import { playOnEngine, playOnStore } from "../../packages/proof/model/traces-given.ts";
import { inTier } from "../setup/tier.ts";
import { hasServer } from "./given.ts";
import { portsOnValkey } from "./stages-given.ts";

describe.skipIf(!hasServer)("the model, on Valkey or Redis", { timeout: 900_000 }, () => {
  it("H14: decides each request to each kind of record as the store does", async () => {
    expect((await playOnStore(await portsOnValkey())).differences).toEqual([]);
  });

  it("H1, H4, H7, H8: does what the engine does over the store, call by call", async () => {
    const { played, differences } = await playOnEngine(await portsOnValkey(), inTier(101, 1));

    console.log(`over ValkeyStore the engine does what the model says: ${played} calls`);
    expect(differences).toEqual([]);
  });
});
