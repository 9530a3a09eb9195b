import { inspect } from "node:util";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { clientError, failWith } from "../kit/faults/faulty-client.ts";
import { client, outcomeOf, recordOf, settlement, store } from "./failing-given.ts";

const CCF = "ConditionalCheckFailed";

describe("DynamoDBStore, when the engine answers with an error", () => {
  beforeEach(() => failWith(client));

  it("H9: counts a refusal by its own finished record as settled, in a transaction and by itself", async () => {
    const Item = recordOf("mine", "completed");
    const reasons = { CancellationReasons: [{ Code: CCF, Item }, { Code: CCF }, { Code: "None" }] };

    expect(await outcomeOf(clientError("TransactionCanceledException", reasons))).toBe("settled");
    const alone = clientError("ConditionalCheckFailedException", { Item });
    expect(await outcomeOf(alone, { writes: [] })).toBe("settled");
  });

  it("distinguishes a record that is gone from one that refused", async () => {
    for (const Item of [undefined, {}])
      expect(await outcomeOf(clientError("ConditionalCheckFailedException", { Item }), { writes: [] })).toBe(
        "refused by the record of undefined",
      );
  });

  it("carries the item of the caller's refused write as plain values", async () => {
    const Item = marshall({ id: "1", tags: new Set(["a"]), nested: { total: 1.5 } });
    const numbers = { big: { N: "90071992547409930" }, long: { N: "9007199254740993.5" } };
    const refused = { Code: CCF, Item: { ...Item, ...numbers } };
    const CancellationReasons = [{ Code: "None" }, refused, { Code: "None" }];
    failWith(client, clientError("TransactionCanceledException", { CancellationReasons }));

    await expect(store.settle(settlement)).rejects.toMatchObject({
      index: 0,
      item: {
        id: "1",
        tags: new Set(["a"]),
        nested: { total: 1.5 },
        big: 90_071_992_547_409_930n,
        long: 2 ** 53 + 2,
      },
    });
  });

  it.each([
    [
      "one of several that refused",
      "TransactionCanceledException",
      [{ Code: "TransactionConflict" }, { Code: CCF }],
    ],
    ["the caller's", "TransactionCanceledException", [{ Code: "None" }, { Code: CCF }]],
    ["a single write's", "ThrottlingException", undefined],
  ])("H38: shows no item in an error that is printed: %s", async (_, name, codes) => {
    const Item = marshall({ card: "canary-5f2e" });
    const CancellationReasons = codes?.map((reason) => ({ ...reason, Item }));
    const cause = clientError(name, CancellationReasons ? { CancellationReasons } : { Item });
    failWith(client, cause);

    const error = await store.settle(settlement).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ cause });
    for (const shown of [inspect(error, { depth: 9 }), JSON.stringify([error, cause]), JSON.stringify(error)])
      expect(shown).not.toContain("canary");
    const [, refused] = (cause as { CancellationReasons?: { Item?: object }[] }).CancellationReasons ?? [];
    if (codes) expect(refused?.Item).toEqual(Item);
  });

  it("reads errors that cannot be changed", async () => {
    const reasons = [
      Object.freeze({ Code: "None" }),
      Object.freeze({ Code: CCF, Item: marshall({ id: "1" }) }),
    ];
    const cause = Object.freeze(
      clientError("TransactionCanceledException", { CancellationReasons: reasons }),
    );
    failWith(client, cause);

    await expect(store.settle(settlement)).rejects.toMatchObject({ index: 0, item: { id: "1" } });
  });

  it.each([
    ["TransactionInProgressException", 400, "conflict"],
    ["TransactionConflictException", 400, "conflict"],
    ["ReplicatedWriteConflictException", 400, "conflict"],
    ["IdempotentParameterMismatchException", 400, "conflict"],
    ["ProvisionedThroughputExceededException", 400, "throttled"],
    ["ThrottlingException", 400, "throttled"],
    ["RequestLimitExceeded", 400, "throttled"],
    ["ItemCollectionSizeLimitExceededException", 400, "refused"],
    ["ResourceNotFoundException", 400, "refused"],
    ["AccessDeniedException", 400, "refused"],
    ["ValidationException", 400, "refused"],
    ["UnrecognizedClientException", 400, "refused"],
    ["ExpiredTokenException", 400, "refused"],
    ["InvalidSignatureException", 400, "refused"],
    ["SerializationException", 400, "refused"],
    ["CredentialsProviderError", undefined, "refused"],
    ["EndpointError", undefined, "refused"],
    ["TooManyRequestsException", 429, "throttled"],
    ["UnknownError", 429, "throttled"],
    ["UnknownError", 408, "unreachable"],
    ["UnknownError", 403, "refused"],
    ["InternalServerError", 500, "unreachable"],
    ["ServiceUnavailable", 503, "unreachable"],
    ["TimeoutError", undefined, "unreachable"],
    ["AbortError", undefined, "unreachable"],
    ["Error", undefined, "unreachable"],
    ["SyntaxError", 200, "unreachable"],
  ])("H12: reads %s with status %s as %s", async (name, status, failure) => {
    const error = clientError(name, { $metadata: { httpStatusCode: status } });

    // What DynamoDB finds wrong in a request is in the caller's writes, where there are some.
    expect(await outcomeOf(error)).toBe(name === "ValidationException" ? "writes[?] invalid" : failure);
    expect(await outcomeOf(error, { writes: [] })).toBe(failure);
    failWith(client, error);
    const reported = await store.find("key", { consistent: true }).catch((thrown: unknown) => thrown);
    expect(reported).toMatchObject({ failure, cause: error, retryable: failure !== "refused" });
    expect((reported as Error).message).toContain(name);
    if (failure === "refused") expect((reported as Error).message).not.toMatch(/retry|later|unavailable/);
  });

  it("names the reasons of a canceled transaction, each once", async () => {
    const reasons = ["ValidationError", "ValidationError", "None"].map((Code) => ({ Code }));
    const error = clientError("TransactionCanceledException", { CancellationReasons: reasons });
    failWith(client, error);

    await expect(store.settle(settlement)).rejects.toMatchObject({
      message: expect.stringContaining("(TransactionCanceledException: ValidationError)"),
      retryable: false,
    });
  });

  it("treats a client without a region as a mistake, not as an outage", async () => {
    failWith(client, clientError("Error", { message: "Region is missing", $metadata: undefined }));

    await expect(store.find("key", { consistent: true })).rejects.toMatchObject({
      failure: "refused",
      message: expect.stringContaining("Region is missing"),
    });
  });

  it("H12: a refusal after a repetition leaves open whether the try before it was applied", async () => {
    const repeated = clientError("ExpiredTokenException", {
      $metadata: { httpStatusCode: 400, attempts: 2 },
    });
    const first = clientError("ExpiredTokenException", { $metadata: { httpStatusCode: 400, attempts: 1 } });

    expect(await outcomeOf(repeated)).toBe("unreachable");
    expect(await outcomeOf(first)).toBe("refused");
  });

  it("H13: does not run while claims are throttled", async () => {
    failWith(client, clientError("ThrottlingException"));
    const options = { operation: "pay", store, leaseSeconds: 30 };

    const call = runOnce(options, "key", {}, () => expect.unreachable());

    await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "throttled" });
  });

  it.each<[name: string, message: string, reported: string]>([
    [
      "ValidationException",
      "The parameter cannot be converted to a numeric value: 4711secret",
      "The parameter cannot be converted to a numeric value …",
    ],
    [
      "ValidationException",
      "1 validation error detected: Value 'it's secret' at 'tableName' failed to satisfy constraint",
      "1 validation error detected: Value … failed to satisfy constraint",
    ],
    [
      "ValidationException",
      'Invalid UpdateExpression: Syntax error; token: "secret", near: "= secret 4711"',
      "Invalid UpdateExpression: Syntax error; token: …",
    ],
    ["ValidationException", "cut within 'secret 4711", "cut within …"],
    [
      "ValidationException",
      "One or more parameter values were invalid: Input collection [secret, 4711] contains duplicates.",
      "One or more parameter values were invalid: Input collection […] contains duplicates",
    ],
    ["ValidationException", "Supplied {S: secret} is wrong", "Supplied {…} is wrong"],
    ["ValidationException", "unused in expressions: keys: {:a, #b}", "unused in expressions: keys: {:a, #b}"],
    ["ValidationException", "the item op##hash of order-1 is wrong", "the item … of … is wrong"],
    [
      "InvalidSignatureException",
      "The request signature does not match. The Canonical String was\n'POST\nx-amz-security-token:secret'",
      "The request signature does not match",
    ],
    ["InvalidSignatureException", "Signature expired: secret is earlier", "Signature expired"],
    ["CredentialsProviderError", "Command failed: get-token --secret 4711", "Command failed"],
    [
      "IncompleteSignatureException",
      "it needs a header, Authorization=AWS4 Credential=secret/4711",
      "it needs a header, Authorization",
    ],
    ["ResourceNotFoundException", "Requested resource not found\nsecret", "Requested resource not found"],
    [
      "AccessDeniedException",
      "User: arn:aws:sts::123456789012:assumed-role/shop/fn is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/records because no policy allows it",
      "User: arn:aws:sts::123456789012:assumed-role/shop/fn is not authorized to perform: dynamodb:PutItem on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/records because no policy allows it",
    ],
    ["ThrottlingException", "x".repeat(4000), "x".repeat(400)],
  ])("H38: reports for %s with %s no value, token or key", async (name, message, reported) => {
    failWith(client, clientError(name, { message }));

    const change = { ...settlement, writes: [], recordKey: "op##hash", token: "order-1" };
    const failure = await store.settle(change).catch((error: Error) => error);

    expect(failure).toMatchObject({ action: "UpdateItem", table: "records" });
    expect((failure as Error).message).toContain(`${name}: ${reported})`);
    expect((failure as Error).message).not.toMatch(/secret|4711|op##hash/);
  });

  it("names all tables of a transaction, and reports no message if an error has none", async () => {
    failWith(client, clientError("ThrottlingException", { message: "" }));

    await expect(store.settle(settlement)).rejects.toMatchObject({
      message:
        "the idempotency store failed at TransactWriteItems on records, orders (throttled: ThrottlingException)",
      action: "TransactWriteItems",
      table: "records, orders",
    });
  });
});
