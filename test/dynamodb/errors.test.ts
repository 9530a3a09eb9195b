import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailableError, TransactionConditionError } from "../../lib/core/errors.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Settlement } from "../../lib/core/store.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { clientError, failWith } from "./faulty-client.ts";
import { connect } from "./tables.ts";

const NOW = 1_900_000_000_000;

// Nothing listens there: a request that gets through would fail.
const client = connect("http://127.0.0.1:1", { maxAttempts: 1 });
const store = new DynamoDBStore({ tableName: "records", client });

const write = (id: string): DynamoDBWrite => ({ Delete: { TableName: "orders", Key: { id } } });

const settlement: Settlement<DynamoDBWrite> = {
  recordKey: "op##hash",
  token: "mine",
  now: NOW,
  state: "completed",
  writes: [write("1"), write("2")],
};

const recordOf = (token: string, state: string) =>
  marshall({
    pk: settlement.recordKey,
    version: 1,
    state,
    token,
    attempt: 1,
    leaseEndsAt: NOW,
    fingerprint: "f",
    createdAt: NOW,
  });

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

/** What settling says when the engine answers with `error`, in a few words. */
async function outcomeOf(error: Error, change: Partial<typeof settlement> = {}): Promise<string> {
  failWith(client, error);
  try {
    const answer = await store.settle({ ...settlement, ...change });
    return answer.settled ? "settled" : `refused by the record of ${answer.record?.token}`;
  } catch (failure) {
    if (failure instanceof TransactionConditionError) return `writes[${failure.index}] refused`;
    if (failure instanceof StoreUnavailableError && failure.cause === error) return failure.failure;
    throw failure;
  }
}

describe("DynamoDBStore, when the engine answers with an error", () => {
  beforeEach(() => failWith(client));

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
    // Where the record could not be asked, a caller's refusal may be the trace of an earlier try.
    [["TransactionConflict", CCF, "None"], "conflict"],
    [["ThrottlingError", CCF, "None"], "throttled"],
    [["SomethingNew", CCF, "None"], "unreachable"],
    // Then what does not pass by itself, throttling, conflict, and what is not known.
    [["None", "TransactionConflict", "None"], "conflict"],
    [["None", "ProvisionedThroughputExceeded", "None"], "throttled"],
    [["None", "None", "ThrottlingError"], "throttled"],
    [["None", "ItemCollectionSizeLimitExceeded", "None"], "refused"],
    [["None", "ValidationError", "None"], "refused"],
    [["AccessDenied", "AccessDenied", "AccessDenied"], "refused"],
    [["None", "DuplicateItem", "None"], "refused"],
    [["TransactionConflict", "ThrottlingError", "None"], "throttled"],
    [["TransactionConflict", "ThrottlingError", "ValidationError"], "refused"],
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
          else expect(["throttled", "conflict", "unreachable", "refused"]).toContain(outcome);
        }
  });

  it("H11: a transaction that was canceled without reasons may pass", async () => {
    expect(await outcomeOf(clientError("TransactionCanceledException"))).toBe("conflict");
    expect(await outcomeOf(clientError("TransactionCanceledException", { CancellationReasons: [] }))).toBe(
      "unreachable",
    );
  });

  it("H9: counts a refusal by its own finished record as settled, in a transaction and alone", async () => {
    const Item = recordOf("mine", "completed");
    const reasons = { CancellationReasons: [{ Code: CCF, Item }, { Code: CCF }, { Code: "None" }] };

    expect(await outcomeOf(clientError("TransactionCanceledException", reasons))).toBe("settled");
    const alone = clientError("ConditionalCheckFailedException", { Item });
    expect(await outcomeOf(alone, { writes: [] })).toBe("settled");
  });

  it("tells a record that is gone from one that refused", async () => {
    for (const Item of [undefined, {}])
      expect(await outcomeOf(clientError("ConditionalCheckFailedException", { Item }), { writes: [] })).toBe(
        "refused by the record of undefined",
      );
  });

  it("carries the item of the caller's refused write as plain values", async () => {
    const Item = marshall({ id: "1", tags: new Set(["a"]), nested: { total: 1.5 } });
    const CancellationReasons = [{ Code: "None" }, { Code: CCF, Item }, { Code: "None" }];
    failWith(client, clientError("TransactionCanceledException", { CancellationReasons }));

    await expect(store.settle(settlement)).rejects.toMatchObject({
      index: 0,
      item: { id: "1", tags: new Set(["a"]), nested: { total: 1.5 } },
    });
  });

  it.each([
    ["TransactionInProgressException", 400, "conflict"],
    ["TransactionConflictException", 400, "conflict"],
    ["ReplicatedWriteConflictException", 400, "conflict"],
    ["ProvisionedThroughputExceededException", 400, "throttled"],
    ["ThrottlingException", 400, "throttled"],
    ["RequestLimitExceeded", 400, "throttled"],
    ["ItemCollectionSizeLimitExceededException", 400, "refused"],
    ["ResourceNotFoundException", 400, "refused"],
    ["AccessDeniedException", 400, "refused"],
    ["ValidationException", 400, "refused"],
    ["UnrecognizedClientException", 400, "refused"],
    ["ExpiredTokenException", 400, "refused"],
    ["CredentialsProviderError", undefined, "refused"],
    ["InternalServerError", 500, "unreachable"],
    ["ServiceUnavailable", 503, "unreachable"],
    ["TimeoutError", undefined, "unreachable"],
    ["AbortError", undefined, "unreachable"],
    ["Error", undefined, "unreachable"],
    ["SyntaxError", 200, "unreachable"],
  ])("H12: reads %s with status %s as %s", async (name, status, failure) => {
    const error = clientError(name, { $metadata: { httpStatusCode: status } });

    expect(await outcomeOf(error)).toBe(failure);
    expect(await outcomeOf(error, { writes: [] })).toBe(failure);
    failWith(client, error);
    await expect(store.find("key", { consistent: true })).rejects.toMatchObject({ failure, cause: error });
  });

  it("H12: a fresh request token is tried once; then it is a conflict", async () => {
    const mismatch = clientError("IdempotentParameterMismatchException");
    failWith(client, mismatch, mismatch);

    await expect(store.settle(settlement)).rejects.toMatchObject({ failure: "conflict" });
  });

  it("H13: does not run while claims are throttled", async () => {
    failWith(client, clientError("ThrottlingException"));
    const options = { operation: "pay", store, leaseSeconds: 30 };

    const call = runOnce(options, "key", {}, () => expect.unreachable());

    await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "throttled" });
  });

  it("keeps names of items and texts of the engine out of its messages", async () => {
    failWith(client, clientError("ValidationException", { message: "secret-4711" }));

    const failure = await store.settle(settlement).catch((error: Error) => error);

    expect((failure as Error).message).not.toMatch(/secret|op##hash/);
  });
});
