// The store contract, on two stores in memory, in both stages of a move that have two.
import { storeContract } from "onceonly/testing";
import { describe, it } from "vitest";
import { memorySubject } from "../kit/memory-subject.ts";
import { clockOf, isKept, mirroredSubject } from "./mirrored-given.ts";

describe.each(["from", "to"] as const)("mirrored, with commits in `%s`, keeps the contract", (commitsIn) => {
  let title = "";

  for (const { name, run } of storeContract(() =>
    mirroredSubject(memorySubject(), memorySubject(), commitsIn, clockOf(title)),
  )) {
    it.runIf(isKept(commitsIn, name))(name, () => {
      title = name;
      return run();
    });
  }
});
