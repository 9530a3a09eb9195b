// The store contract, unchanged, on encrypted stores: in memory, and on a real DynamoDB engine.
import { storeContract } from "onceonly/testing";
import { describe, it } from "vitest";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { memorySubject } from "../kit/memory-subject.ts";
import { keyService, openedSubject } from "./privacy-given.ts";

describe("an encrypted store keeps the contract", () => {
  for (const { name, run } of storeContract(() =>
    openedSubject(memorySubject(), (store) => encrypted(store, { keys: keyService() })),
  )) {
    it(name, run);
  }
});
