import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  GetItemCommand,
  type ReturnValue,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import {
  type FaultProxyOptions,
  type ObservedAnswer,
  type ObservedRequest,
  startFaultProxy,
} from "../lib/fault-proxy.ts";

const TableName = "fault-proxy";
const Key = (pk: string) => ({ pk: { S: pk } });

function clientFor(endpoint: string, maxAttempts: number, requestTimeout?: number): DynamoDBClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const requestHandler = requestTimeout ? { requestTimeout, throwOnRequestTimeout: true } : {};
  return new DynamoDBClient({ endpoint, region: "us-east-1", credentials, maxAttempts, requestHandler });
}

const addOne = (pk: string) =>
  new UpdateItemCommand({
    TableName,
    Key: Key(pk),
    UpdateExpression: "ADD n :one",
    ExpressionAttributeValues: { ":one": { N: "1" } },
    ReturnValues: "ALL_NEW" satisfies ReturnValue,
  });

describe.each(inject("dynamodbEngines"))("startFaultProxy before $name", ({ name, endpoint }) => {
  const direct = clientFor(endpoint, 3);

  beforeAll(async () => {
    await direct.send(
      new CreateTableCommand({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      }),
    );
  });

  afterAll(async () => {
    await direct.send(new DeleteTableCommand({ TableName }));
    direct.destroy();
  });

  interface Through extends Pick<FaultProxyOptions, "onAnswer"> {
    readonly maxAttempts?: number;
    readonly requestTimeout?: number;
  }

  async function through(decide: FaultProxyOptions["decide"], more: Through = {}) {
    const { maxAttempts = 1, requestTimeout, ...options } = more;
    const proxy = await startFaultProxy({ target: endpoint, decide, ...options });
    const client = clientFor(proxy.endpoint, maxAttempts, requestTimeout);
    onTestFinished(async () => {
      client.destroy();
      await proxy.stop();
    });
    return { proxy, client };
  }

  const storedCount = async (pk: string) =>
    Number(
      (await direct.send(new GetItemCommand({ TableName, Key: Key(pk), ConsistentRead: true }))).Item?.n?.N ??
        0,
    );

  it("passes requests and answers through, and shows what it saw", async () => {
    const seen: ObservedRequest[] = [];
    const { client } = await through((request) => {
      seen.push(request);
      return "pass";
    });

    const { Attributes } = await client.send(addOne("pass"));

    expect(Attributes).toEqual({ pk: { S: "pass" }, n: { N: "1" } });
    expect(seen).toMatchObject([
      { operation: "UpdateItem", sequence: 1, body: { TableName, Key: Key("pass") } },
    ]);
  });

  it("loses the answer of a write that the engine applied once", async () => {
    const { proxy, client } = await through(() => "lose-answer");

    await expect(client.send(addOne("lost"))).rejects.toThrow(/hang up|ECONNRESET/);

    expect(await storedCount("lost")).toBe(1);
    expect(proxy.counts("UpdateItem")).toEqual({
      requests: 1,
      lost: 1,
      throttled: 0,
      conflicts: 0,
      delayed: 0,
      repeated: 0,
    });
  });

  it("lets the SDK send a write again whose answer it lost", async () => {
    const { proxy, client } = await through(({ sequence }) => (sequence === 1 ? "lose-answer" : "pass"), {
      maxAttempts: 3,
    });

    const { Attributes } = await client.send(addOne("sent-again"));

    expect(Attributes?.n).toEqual({ N: "2" });
    expect(proxy.counts()).toMatchObject({ requests: 2, lost: 1 });
  });

  it("throttles without the engine", async () => {
    const { proxy, client } = await through(() => "throttle");

    await expect(client.send(addOne("throttled"))).rejects.toMatchObject({
      name: "ProvisionedThroughputExceededException",
    });

    expect(await storedCount("throttled")).toBe(0);
    expect(proxy.counts("UpdateItem")).toMatchObject({ requests: 1, throttled: 1 });
  });

  it("reports a conflict with a transaction", async () => {
    const { proxy, client } = await through(() => "conflict");

    await expect(client.send(addOne("conflict"))).rejects.toMatchObject({
      name: "TransactionConflictException",
    });

    expect(await storedCount("conflict")).toBe(0);
    expect(proxy.counts("UpdateItem")).toMatchObject({ conflicts: 1 });
  });

  it("reports a conflict of a transaction in its cancellation reasons", async () => {
    const { client } = await through(() => "conflict");
    const put = (pk: string) => ({ Put: { TableName, Item: Key(pk) } });

    const write = client.send(new TransactWriteItemsCommand({ TransactItems: [put("a"), put("b")] }));

    await expect(write).rejects.toMatchObject({
      name: "TransactionCanceledException",
      CancellationReasons: [{ Code: "TransactionConflict" }, { Code: "None" }],
    });
  });

  it("delays", async () => {
    const { proxy, client } = await through(() => ({ delayMs: 150 }));
    const startedAt = performance.now();

    await client.send(addOne("delayed"));

    expect(performance.now() - startedAt).toBeGreaterThan(145);
    expect(proxy.counts()).toMatchObject({ requests: 1, delayed: 1 });
  });

  it("delivers a copy of a request later, whose response the caller never gets", async () => {
    const answers: ObservedAnswer[] = [];
    const fault = { repeatAfterMs: 100 };
    const { proxy, client } = await through(({ sequence }) => (sequence === 1 ? fault : "pass"), {
      onAnswer: (_, answer) => answers.push(answer),
    });

    const { Attributes } = await client.send(addOne("repeated"));

    expect(Attributes?.n).toEqual({ N: "1" });
    await vi.waitUntil(() => answers.length === 2);
    expect(await storedCount("repeated")).toBe(2);
    expect(proxy.counts()).toMatchObject({ requests: 1, repeated: 1 });
    expect(answers).toEqual([
      { statusCode: 200, isOfCopy: false },
      { statusCode: 200, isOfCopy: true },
    ]);
  });

  it("delivers no copy of a rejected request if only accepted requests are to be repeated", async () => {
    const { proxy, client } = await through(() => ({ repeatAfterMs: 0, unlessRefused: true }));
    const refused = new UpdateItemCommand({
      ...addOne("refused").input,
      ConditionExpression: "attribute_exists(pk)",
    });

    await expect(client.send(refused)).rejects.toMatchObject({ name: "ConditionalCheckFailedException" });
    await client.send(addOne("accepted"));

    await vi.waitUntil(async () => (await storedCount("accepted")) === 2);
    expect(proxy.counts()).toMatchObject({ requests: 2, repeated: 1 });
  });

  it("hands on a delayed request whose caller has hung up", async () => {
    const { proxy, client } = await through(() => ({ delayMs: 60_000 }), { requestTimeout: 50 });

    await expect(client.send(addOne("hung-up"))).rejects.toThrow();
    await proxy.flush();

    expect(await storedCount("hung-up")).toBe(1);
  });

  it("passes on immediately, on request, what it holds back", async () => {
    const { proxy, client } = await through(() => ({ repeatAfterMs: 60_000 }));
    await client.send(addOne("flushed"));

    await proxy.flush();

    expect(await storedCount("flushed")).toBe(2);
  });

  it("keeps apart the counts of operations and adds them up", async () => {
    const { proxy, client } = await through(({ operation }) =>
      operation === "GetItem" ? "throttle" : "pass",
    );

    await client.send(addOne("counted"));
    await client.send(addOne("counted"));
    await expect(client.send(new GetItemCommand({ TableName, Key: Key("counted") }))).rejects.toThrow();

    expect(proxy.counts("UpdateItem")).toMatchObject({ requests: 2, throttled: 0 });
    expect(proxy.counts("GetItem")).toMatchObject({ requests: 1, throttled: 1 });
    expect(proxy.counts("PutItem")).toMatchObject({ requests: 0 });
    expect(proxy.counts()).toMatchObject({ requests: 3, throttled: 1 });
  });

  it(`carries concurrent writes to ${name} without losing one`, async () => {
    const { proxy, client } = await through(() => "pass");

    await Promise.all(Array.from({ length: 200 }, () => client.send(addOne("many"))));

    expect(await storedCount("many")).toBe(200);
    expect(proxy.counts().requests).toBe(200);
  });
});

describe("startFaultProxy", () => {
  it("refuses a target that is not plain HTTP", async () => {
    const target = "https://dynamodb.eu-central-1.amazonaws.com";

    await expect(startFaultProxy({ target, decide: () => "pass" })).rejects.toThrow(
      "point it at a local engine",
    );
  });

  it("breaks the connection when the engine is gone", async () => {
    const proxy = await startFaultProxy({ target: "http://127.0.0.1:1", decide: () => "pass" });
    onTestFinished(() => proxy.stop());

    await expect(fetch(proxy.endpoint, { method: "POST", body: "{}" })).rejects.toThrow("fetch failed");
  });
});
