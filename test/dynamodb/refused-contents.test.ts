// What DynamoDB refuses for its size or kind: the record says that the work is done, or the commit is refused. No effect repeats.
import { createHash, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { DynamoDBStore as LeanDynamoDBStore } from "../../lib/lean/dynamodb-store.ts";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { connect, createTable } from "../kit/tables.ts";

/** Text that doesn't compress well. */
function noise(bytes: number): string {
  let text = "";
  for (let block = 0; text.length < bytes; block++)
    text += createHash("sha512").update(`${bytes}:${block}`).digest("base64url");
  return text.slice(0, bytes);
}

/** Characters of four bytes, the most that a scope and a step's name can have. */
const wide = (length: number) => "😀".repeat(length / 2);

const STORES = {
  "the SDK": (endpoint: string, tableName: string) =>
    new DynamoDBStore({ tableName, client: connect(endpoint) }),
  "the lean client": (endpoint: string, tableName: string) =>
    new LeanDynamoDBStore({
      tableName,
      client: new LeanDynamoDB({
        endpoint,
        region: "eu-central-1",
        credentials: { accessKeyId: "local", secretAccessKey: "local" },
      }),
    }),
};

const CASES = inject("dynamodbEngines").flatMap(({ name, endpoint }) =>
  Object.entries(STORES).map(([client, open]) => [name, client, endpoint, open] as const),
);

describe.each(CASES)("On %s, over %s", (_engine, _client, endpoint, open) => {
  let table: string;
  let store: DynamoDBStore | LeanDynamoDBStore;
  beforeAll(async () => {
    table = await createTable(connect(endpoint));
    store = open(endpoint, table);
  });

  const shop = (options: Partial<EngineOptions<DynamoDBWrite>> & { readonly scope?: string } = {}) => {
    const key = randomUUID();
    let runs = 0;
    const call = (work: (execution: Execution<DynamoDBWrite>) => unknown) =>
      runOnce<unknown, DynamoDBWrite>(
        { operation: "order", store, leaseSeconds: 30, ...options },
        key,
        {},
        (execution) => {
          runs++;
          return work(execution);
        },
      );
    return { call, runs: () => runs };
  };

  it.each([
    ["claimed", "beyond 400 KB", {}, noise(700_000)],
    ["optimistic", "beyond 400 KB", { mode: "optimistic" }, noise(700_000)],
    ["claimed", "beyond 16 MB", {}, "x".repeat(17 * 1_048_576)],
  ] as const)("H84: A4: a result is done and not kept, %s, %s", async (_mode, _size, options, result) => {
    const { call, runs } = shop(options);

    expect(await call(() => result)).toHaveLength(result.length);
    await expect(call(() => "again")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(runs()).toBe(1);
  });

  it("H84: A4: so is a final error", async () => {
    const { call, runs } = shop({ isFinalError: () => true });
    const message = noise(700_000);

    expect(await call(() => Promise.reject(new Error(message))).catch((error) => error.message)).toHaveLength(
      message.length,
    );
    await expect(call(() => "again")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(runs()).toBe(1);
  });

  it("H84: A4: so is the result of a step", async () => {
    const { call } = shop();
    let charges = 0;
    const charge = () =>
      call(({ step }) =>
        step("charge", () => {
          charges++;
          return noise(700_000);
        }),
      );

    await expect(charge()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    await expect(charge()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(charges).toBe(1);
  });

  it("H84: A4: a record accepts the most and longest steps, and a result, with the longest key", async () => {
    const { call, runs } = shop({ scope: wide(256), operation: "o".repeat(64) });
    let effects = 0;
    const work = async ({ step }: Execution<DynamoDBWrite>) => {
      for (let index = 0; index < 100; index++) {
        await step(`${index}`.padEnd(64, "-"), () => {
          effects++;
          return noise(index % 2 === 0 ? 1700 : 3000);
        });
      }
      return noise(4000);
    };

    expect(await call(work)).toBe(noise(4000));
    expect(await call(work)).toBe(noise(4000));
    expect([runs(), effects]).toEqual([1, 100]);
  });

  const pk = () => randomUUID();
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  it.each([
    ["an item beyond 400 KB", () => ({ Put: { Item: { pk: pk(), blob: noise(409_600) } } })],
    [
      "an update beyond 400 KB",
      () => ({
        Update: {
          Key: { pk: pk() },
          UpdateExpression: "SET a = :a, b = :a",
          ExpressionAttributeValues: { ":a": noise(300_000) },
        },
      }),
    ],
    ["an empty key", () => ({ Put: { Item: { pk: "" } } })],
    ["no key", () => ({ Put: { Item: { id: "a" } } })],
    ["a key of another type", () => ({ Put: { Item: { pk: 7 } } })],
    ["a key that is too long", () => ({ Put: { Item: { pk: "k".repeat(2049) } } })],
    ["a number out of range", () => ({ Put: { Item: { pk: pk(), n: 10n ** 130n } } })],
    ["a number with too many digits", () => ({ Put: { Item: { pk: pk(), n: 10n ** 40n + 1n } } })],
    ["an item that is nested too deeply", () => ({ Put: { Item: { pk: pk(), a: nested(34) } } })],
  ])("H84: A4: a commit of %s is COMMIT_INVALID, and another one replaces it", async (_what, given) => {
    const { call, runs } = shop();
    const [[action, body]] = Object.entries(given()) as [[string, object]];
    const writes = [{ [action]: { TableName: table, ...body } } as never as DynamoDBWrite];

    const end = await call(async ({ commit }) => {
      const refusal = await (async () => commit("a", { writes }))().catch((error) => error);
      expect(refusal).toMatchObject({ code: "COMMIT_INVALID", retryable: false });
      return commit("b");
    });

    expect([end, await call(() => "again"), runs()]).toEqual(["b", "b", 1]);
  });
});
