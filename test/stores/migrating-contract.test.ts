// The store contract, on two stores in memory, in both stages of a move that have two.
import { storeContract } from "onceonly/testing";
import { describe, it } from "vitest";
import { memorySubject } from "../kit/memory-subject.ts";
import { clockOf, isKept, migratingSubject } from "./migrating-given.ts";

describe.each(["from", "to"] as const)("migrating, with commits in `%s`, keeps the contract", (commitsIn) => {
  let title = "";

  for (const { name, run } of storeContract(() =>
    migratingSubject(memorySubject(), memorySubject(), commitsIn, clockOf(title)),
  )) {
    it.runIf(isKept(commitsIn, name))(name, () => {
      title = name;
      return run();
    });
  }
});
