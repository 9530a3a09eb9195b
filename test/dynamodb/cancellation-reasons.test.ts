import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, it } from "vitest";
import { clientError } from "../kit/faults/faulty-client.ts";
import { outcomeOf, recordOf } from "./failing-given.ts";

const CODES = [
  "None",
  "ConditionalCheckFailed",
  "TransactionConflict",
  "ProvisionedThroughputExceeded",
  "ThrottlingError",
  "ItemCollectionSizeLimitExceeded",
  "ValidationError",
  "AccessDenied",
  "DuplicateItem",
  "SomethingNew",
] as const;
type Code = (typeof CODES)[number];

const CCF = "ConditionalCheckFailed";

const canceledBy = (...codes: readonly Code[]) =>
  clientError("TransactionCanceledException", {
    CancellationReasons: codes.map((Code, index) => ({
      Code,
      ...(Code === CCF && {
        Item: index === 0 ? recordOf("other", "completed") : marshall({ id: `${index}` }),
      }),
    })),
  });

describe("DynamoDBStore, when a transaction is canceled", () => {
  it.each<[Code[], string]>([
    // The record's own condition decides first.
    [[CCF, "None", "None"], "refused by the record of other"],
    [[CCF, CCF, "None"], "refused by the record of other"],
    [[CCF, "TransactionConflict", "ThrottlingError"], "refused by the record of other"],
    // Then the caller's: the first that was refused.
    [["None", CCF, "None"], "writes[0] refused"],
    [["None", "None", CCF], "writes[1] refused"],
    [["None", CCF, CCF], "writes[0] refused"],
    [["None", "TransactionConflict", CCF], "writes[1] refused"],
    [["None", "ValidationError", CCF], "writes[1] refused"],
    // If the record could not be asked, a caller's refusal may be the trace of an earlier try.
    [["TransactionConflict", CCF, "None"], "conflict"],
    [["ThrottlingError", CCF, "None"], "throttled"],
    [["SomethingNew", CCF, "None"], "unreachable"],
    // Then what does not pass by itself, throttling, conflict, and what is not known.
    [["None", "TransactionConflict", "None"], "conflict"],
    [["None", "ProvisionedThroughputExceeded", "None"], "throttled"],
    [["None", "None", "ThrottlingError"], "throttled"],
    [["ItemCollectionSizeLimitExceeded", "None", "None"], "refused"],
    [["ValidationError", "None", "None"], "refused"],
    [["AccessDenied", "AccessDenied", "AccessDenied"], "refused"],
    [["None", "DuplicateItem", "None"], "refused"],
    [["TransactionConflict", "ThrottlingError", "None"], "throttled"],
    [["TransactionConflict", "ThrottlingError", "ValidationError"], "refused"],
    // A write that no retry mends is the caller's mistake, if the record agreed.
    [["None", "ItemCollectionSizeLimitExceeded", "None"], "writes[0] invalid"],
    [["None", "ValidationError", "None"], "writes[0] invalid"],
    [["None", "TransactionConflict", "ValidationError"], "writes[1] invalid"],
    [["None", "ValidationError", "ValidationError"], "writes[0] invalid"],
    [["ValidationError", "ValidationError", "None"], "refused"],
    [["ConditionalCheckFailed", "ValidationError", "None"], "refused by the record of other"],
    [["None", "SomethingNew", "None"], "unreachable"],
    [["None", "None", "None"], "unreachable"],
  ])("H11: reads the reasons %j as: %s", async (codes, outcome) => {
    expect(await outcomeOf(canceledBy(...codes))).toBe(outcome);
  });

  it("H11: reads every vector of three reasons by one rule: the record, then the caller, then the store", async () => {
    for (const own of CODES)
      for (const first of CODES)
        for (const second of CODES) {
          const outcome = await outcomeOf(canceledBy(own, first, second));

          const isCallers = own === "None" && (first === CCF || second === CCF);
          if (own === CCF) expect(outcome).toBe("refused by the record of other");
          else if (isCallers) expect(outcome).toBe(`writes[${first === CCF ? 0 : 1}] refused`);
          else if (own === "None" && [first, second].some((code) => /^(Validation|ItemColl)/.test(code)))
            expect(outcome).toMatch(/^writes\[[01]\] invalid$/);
          else expect(["throttled", "conflict", "unreachable", "refused"]).toContain(outcome);
        }
  });

  it("H11: a transaction that was canceled without reasons may pass", async () => {
    expect(await outcomeOf(clientError("TransactionCanceledException"))).toBe("conflict");
    expect(await outcomeOf(clientError("TransactionCanceledException", { CancellationReasons: [] }))).toBe(
      "unreachable",
    );
  });
});
