// Writes that DynamoDB can never take, as handlers commit them: blamed by name and place, and mended by a deployment.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { LeanDynamoDB, DynamoDBStore as LeanStore } from "../../lib/lean/index.ts";
import { connect, createTable, environmentFor } from "../kit/tables.ts";

const CANARY = "canary-5f2e";
const MODES = ["claimed", "optimistic"] as const;

const credentials = { accessKeyId: "local", secretAccessKey: "local" };

describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let orders: string;
  let tableName: string;

  beforeAll(async () => {
    [tableName, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    for (const [name, value] of Object.entries(environmentFor(endpoint))) vi.stubEnv(name, value);
  });

  afterAll(() => void vi.unstubAllEnvs());

  const put = (item: object, more: object = {}): DynamoDBWrite => ({
    Put: { TableName: orders, Item: item, ...more },
  });
  const good = () => put({ id: randomUUID(), card: CANARY });
  const update = (
    UpdateExpression: string,
    values: object = {},
    id: string = randomUUID(),
  ): DynamoDBWrite => ({
    Update: { TableName: orders, Key: { id }, UpdateExpression, ...values },
  });
  const valued = (value: unknown) => ({ ExpressionAttributeValues: { ":v": value } });

  const BAD: readonly (readonly [
    string,
    () => DynamoDBWrite[],
    index: readonly (number | undefined)[],
    says: RegExp,
  ])[] = [
    [
      "a reserved word",
      () => [good(), update("SET status = :v", valued(CANARY)), update("SET a = :v", valued(CANARY))],
      [1],
      /Update on .*reserved keyword: status/i,
    ],
    [
      "a table that is missing",
      () => [good(), { Put: { TableName: "no-such-table", Item: { id: CANARY } } }],
      [undefined],
      /no-such-table .*(found|non-exist)/i,
    ],
    [
      "only a table that is missing",
      () => [{ Put: { TableName: "no-such-table", Item: { id: CANARY } } }],
      [0],
      /Put on no-such-table .*(found|non-exist)/i,
    ],
    [
      "an expression with a mistake",
      () => [good(), update("SET = :v", valued(CANARY))],
      [1],
      /Update on .*UpdateExpression/,
    ],
    [
      "two puts of one item",
      () => [put({ id: CANARY }), put({ id: CANARY })],
      [undefined],
      /one of 2 writes.*one item/,
    ],
    [
      "an item without its key",
      () => [good(), put({ name: CANARY })],
      [1, undefined],
      /(Missing the key id|required keys was not given)/,
    ],
    ["a key of another type", () => [good(), put({ id: 4711 })], [1], /Put on .*Type mismatch/i],
    ["an empty key", () => [good(), put({ id: "", card: CANARY })], [undefined], /empty/i],
    [
      "an addition to text",
      () => [
        put({ id: "text", n: CANARY }),
        update("ADD n :v", valued(1), "other"),
        update("ADD n :v", valued(1), "sum"),
      ],
      [2, undefined],
      /operand/,
    ],
    [
      "a value that is not used",
      () => [
        good(),
        update("SET a = :v", { ExpressionAttributeValues: { ":v": CANARY, ":unused": CANARY } }),
      ],
      [1, undefined],
      /:unused/,
    ],
  ];

  const stores = {
    "by a client of the SDK": () => new DynamoDBStore({ tableName, client }),
    "by the store's own client": () => new DynamoDBStore({ tableName }),
    "by the lean client": () =>
      new LeanStore({ tableName, client: new LeanDynamoDB({ region: "local", endpoint, credentials }) }),
  };

  for (const [by, make] of Object.entries(stores)) {
    describe.each(by === "by a client of the SDK" ? MODES : MODES.slice(0, 1))(
      `a commit ${by}, %s`,
      (mode) => {
        const key = () => randomUUID();
        const call = (id: string, work: (execution: Execution<DynamoDBWrite>) => unknown, store = make()) =>
          runOnce({ operation: "op", store, leaseSeconds: 30, mode }, id, {}, work);

        it.each(BAD)("reports that it holds %s", async (_, writes, index, says) => {
          await call(key(), ({ commit }) => commit(1, { writes: [put({ id: "sum", n: CANARY })] }));
          const id = key();

          const error = await call(id, ({ commit }) => commit("order", { writes: writes() })).catch(
            (thrown: unknown) => thrown,
          );

          expect(error).toMatchObject({
            code: "COMMIT_INVALID",
            retryable: false,
            message: expect.stringMatching(says),
          });
          expect(index).toContain((error as { index?: number }).index);
          expect((error as Error).message).not.toMatch(/canary|4711/);
          // The deployment that fixes it runs, and nothing of the first attempt is there.
          expect(
            await call(id, ({ commit, attempt }) => commit(`mended ${attempt}`, { writes: [good()] })),
          ).toBe(mode === "claimed" ? "mended 2" : "mended undefined");
        });
      },
    );
  }

  it("a handler may commit something else after a commit that cannot be written", async () => {
    const id = randomUUID();
    const answer = await runOnce(
      { operation: "op", store: stores["by a client of the SDK"](), leaseSeconds: 30 },
      id,
      {},
      async ({ commit }) => {
        await expect(
          commit("bad", { writes: [put({ id, status: 1 }), update("SET status = :v", valued(1))] }),
        ).rejects.toThrow("writes[1]");
        return commit("good", { writes: [put({ id, state: "good" })] });
      },
    );

    expect(answer).toBe("good");
    const { Item } = await client.send(new GetItemCommand({ TableName: orders, Key: { id: { S: id } } }));
    expect(Item).toEqual({ id: { S: id }, state: { S: "good" } });
  });

  it("a missing records table doesn't count as a mistake in the writes", async () => {
    for (const mode of MODES) {
      const store = new DynamoDBStore({ tableName: "no-records", client });
      const error = await runOnce(
        { operation: "op", store, leaseSeconds: 30, mode, lookFirst: false },
        randomUUID(),
        {},
        ({ commit }) => commit("order", { writes: [good()] }),
      ).catch((thrown: unknown) => thrown);

      expect(error).toMatchObject({
        code: "STORE_UNAVAILABLE",
        failure: "refused",
        table: expect.stringContaining("no-records"),
        action: expect.stringMatching(mode === "claimed" ? /^PutItem$/ : /^(TransactWriteItems|GetItem)$/),
      });
      expect((error as Error).message).toMatch(/ on no-records.*ResourceNotFoundException: /);
    }
  });
});
