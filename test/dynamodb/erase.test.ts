// Erasing on DynamoDB, where large results have items of their own.
import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { type DynamoDBClient, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { DynamoDBStore as LeanStore } from "../../lib/lean/dynamodb-store.ts";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { type ErasedWorld, erasuresOf } from "../core/plays/erasures.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";

const CANARY = "canary-4711";
const ERASURE = { by: "ana", why: "request 12" };
const secretOf = (times: number) => Array.from({ length: times }, () => `${CANARY} ${randomUUID()}`).join();

describe.each(inject("everyDynamodbEngine"))("on $name", ({ endpoint }) => {
  let client: DynamoDBClient;
  let tableName: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    client = connect(endpoint);
    tableName = await createOutboxTable(client);
    store = new DynamoDBStore({ tableName, client });
  });

  /** The items of a record, compressed results unpacked. */
  async function itemsOf(recordKey: string) {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
    return Items.filter(({ pk }) => pk?.S?.startsWith(recordKey));
  }

  const held = async (recordKey: string) =>
    JSON.stringify(await itemsOf(recordKey), (_, value) =>
      value instanceof Uint8Array || value?.type === "Buffer"
        ? `${gunzipSync(Buffer.from(value.data ?? value))}`
        : value,
    );

  const world = (): ErasedWorld => ({
    store,
    hasSteps: true,
    held,
    setVersion: async (recordKey, version) => {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: { pk: { S: recordKey } },
          UpdateExpression: "SET version = :version",
          ExpressionAttributeValues: { ":version": { N: `${version}` } },
        }),
      );
    },
  });

  it.each(erasuresOf(true))("$name", ({ check }) => check(world()));

  it("H39: each result in a separate item is replaced, and its replacement expires with it", async () => {
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    const options = { operation: "pay", store, leaseSeconds: 30, retentionSeconds: 60 };
    await runOnce(options, key, {}, async ({ step }) => {
      await step("one", () => secretOf(400));
      await step("other", () => secretOf(400));
      return secretOf(400);
    });
    const before = await itemsOf(recordKey);
    expect(before).toHaveLength(4);

    expect(await eraseResult({ operation: "pay", store }, key, ERASURE)).toEqual({ erased: true });

    const after = await itemsOf(recordKey);
    const expiries = (items: typeof before) => items.map(({ pk, expiresAt }) => [pk?.S, expiresAt?.N]).sort();
    expect(expiries(after)).toEqual(expiries(before));
    expect(after.filter(({ result }) => result?.S === "not kept")).toHaveLength(4);
    expect(after.filter(({ stepItems, resultItem }) => stepItems || resultItem)).toEqual([]);
  });

  it("H39, H43: no late copy of any request brings back an erased result", async () => {
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    const copies: (() => Promise<unknown>)[] = [];
    const stop = aroundRequests(client, ({ command, send }) => {
      if (command !== "GetItem") copies.push(send);
      return send();
    });
    const options = { operation: "pay", store, leaseSeconds: 30 };
    await runOnce(options, key, {}, async ({ step }) => {
      await step("one", () => secretOf(400));
      return secretOf(400);
    });
    stop();
    expect(await held(recordKey)).toContain(CANARY);
    await eraseResult({ operation: "pay", store }, key, ERASURE);

    // A claim, an item and a step, an item and an end.
    expect(copies).toHaveLength(5);
    await Promise.allSettled(copies.map((copy) => copy()));

    expect(await held(recordKey)).not.toContain(CANARY);
  });

  it("H39: if the record can no longer be reached, a replay runs nothing, and the next call ends the erasure", async () => {
    const key = randomUUID();
    const options = { operation: "pay", store, leaseSeconds: 30 };
    await runOnce(options, key, {}, () => secretOf(400));
    let updates = 0;
    const stop = aroundRequests(client, ({ command, send }) => {
      const isRecord = command === "UpdateItem" && updates++ > 0;
      return isRecord
        ? Promise.reject(Object.assign(new Error("no"), { name: "AccessDeniedException" }))
        : send();
    });
    const erase = () => eraseResult({ operation: "pay", store }, key, ERASURE);

    await expect(erase()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "refused" });
    stop();

    const again = runOnce(options, key, {}, () => expect.unreachable());
    await expect(again).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(await erase()).toEqual({ erased: true });
  });

  it("H39: an operation that takes over an expired key forgets where the results of the previous steps were", async () => {
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    const at = { now: Date.now() };
    const clock = { now: () => at.now, sleep: async () => {} };
    const options = { operation: "pay", store, clock, leaseSeconds: 30, retentionSeconds: 60 };
    await runOnce(options, key, {}, ({ step }) => step("one", () => secretOf(400)));
    at.now += 120_000;
    await runOnce(options, key, {}, () => "anew");

    const [record] = (await itemsOf(recordKey)).filter(({ pk }) => pk?.S === recordKey);
    expect(record?.stepItems).toBeUndefined();
  });

  it("H39: a store without the SDK is erased in the same way", async () => {
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const lean = new LeanStore({
      tableName,
      client: new LeanDynamoDB({ endpoint, region: "eu-central-1", credentials }),
    });
    await runOnce({ operation: "pay", store: lean, leaseSeconds: 30 }, key, {}, async ({ step }) => {
      await step("one", () => secretOf(400));
      return secretOf(400);
    });

    expect(await eraseResult({ operation: "pay", store: lean }, key, ERASURE)).toEqual({ erased: true });

    expect(await held(recordKey)).not.toContain(CANARY);
  });
});
