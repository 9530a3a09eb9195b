import { storeContract } from "onceonly/testing";
import { describe, it } from "vitest";
import { memorySubject } from "./memory-subject.ts";

describe("MemoryStore", () => {
  for (const { name, run } of storeContract(() => memorySubject())) it(name, run);
});
