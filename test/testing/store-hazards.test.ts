// The hazards of a store of records, on MemoryStore. Other stores: plays.test.ts in test/dynamodb, test/postgres and test/valkey.
import { describe, it } from "vitest";
import { memoryPorts } from "../../packages/proof/model/ports-given.ts";
import { STORE_HAZARDS } from "../core/plays/store-hazards.ts";

describe("MemoryStore", () => {
  it.each(STORE_HAZARDS)("$name", ({ check }) => check(memoryPorts()));
});
