import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { CommitInvalidError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { RecordTable } from "../../lib/dynamodb/record-table.ts";
import { type DynamoDBWrite, marshallWrites } from "../../lib/dynamodb/writes.ts";
import { connect, createTable } from "./tables.ts";

const TableName = "orders";
const table = new RecordTable({ tableName: "records", sortKey: { name: "sk", value: "record" } });

const check = (...writes: unknown[]) => marshallWrites(table, writes as DynamoDBWrite[], "op##hash");
const put = (Item: object) => ({ Put: { TableName, Item } });
const remove = (Key: object) => ({ Delete: { TableName, Key } });
const blob = (bytes: number) => "x".repeat(bytes);

describe("marshallWrites", () => {
  it("passes every action on as DynamoDB takes it, without what is undefined", () => {
    const options = { ReturnValuesOnConditionCheckFailure: "ALL_OLD", ConditionExpression: "#a = :a" };
    const values = { ExpressionAttributeNames: { "#a": "a" }, ExpressionAttributeValues: { ":a": 1 } };
    const marshalled = { ...values, ExpressionAttributeValues: { ":a": { N: "1" } }, TableName, ...options };

    expect(
      check(
        {
          Put: { TableName, Item: { id: "1", gone: undefined, tags: new Set(["a"]) }, ...options, ...values },
        },
        { Update: { TableName, Key: { id: "2" }, UpdateExpression: "SET #a = :a", ...values, ...options } },
        { Delete: { TableName, Key: { id: 3 }, ...options, ...values } },
        { ConditionCheck: { TableName, Key: { id: 4n }, ...options, ...values } },
      ),
    ).toEqual([
      { Put: { ...marshalled, Item: { id: { S: "1" }, tags: { SS: ["a"] } } } },
      { Update: { ...marshalled, Key: { id: { S: "2" } }, UpdateExpression: "SET #a = :a" } },
      { Delete: { ...marshalled, Key: { id: { N: "3" } } } },
      { ConditionCheck: { ...marshalled, Key: { id: { N: "4" } } } },
    ]);
  });

  it.each([
    ["nothing", null],
    ["no action", {}],
    ["an unknown action", { Get: { TableName, Key: { id: "1" } } }],
    ["an inherited name as action", { toString: { TableName, Key: { id: "1" } } }],
    ["two actions", { ...put({ id: "1" }), ...remove({ id: "2" }) }],
    ["no table", { Put: { Item: { id: "1" } } }],
    ["a table from a variable that is not set", { Put: { TableName: undefined, Item: { id: "1" } } }],
    ["a put without item", { Put: { TableName, Key: { id: "1" } } }],
    ["an update without key", { Update: { TableName, Item: { id: "1" } } }],
    ["an action that is text", { Put: "orders" }],
  ])("refuses %s and says where", (_, write) => {
    expect(() => check(put({ id: "0" }), write)).toThrow(CommitInvalidError);
    expect(() => check(put({ id: "0" }), write)).toThrow(/^writes\[1\] must be/);
  });

  it.each([
    ["a symbol", Symbol("secret")],
    ["a class instance", new (class Secret {})()],
    ["a number beyond what is exact", 2 ** 60],
    ["not a number", Number.NaN],
    ["an empty set", new Set()],
  ])("refuses %s as a value", (_, value) => {
    const values = { ":v": value };

    expect(() => check(put({ id: "1", value }))).toThrow(
      "writes[0] holds a value that DynamoDB cannot store",
    );
    expect(() =>
      check({ Delete: { TableName, Key: { id: "1" }, ExpressionAttributeValues: values } }),
    ).toThrow(CommitInvalidError);
  });

  it("refuses a value that holds itself", () => {
    const item: Record<string, unknown> = { id: "1" };
    item.self = item;

    expect(() => check(put(item))).toThrow(CommitInvalidError);
  });

  it("takes 99 writes, and refuses 100", () => {
    const writes = Array.from({ length: 99 }, (_, id) => put({ id }));

    expect(check(...writes)).toHaveLength(99);
    expect(() => check(...writes, put({ id: 99 }))).toThrow("at most 99");
  });

  it("takes an item of nearly 400 KB, and refuses one beyond", () => {
    check(put({ id: "1", blob: blob(409_000) }));
    expect(() => check(put({ id: "1", blob: blob(409_600) }))).toThrow(CommitInvalidError);
    expect(() => check(put({ id: "1", list: [blob(200_000), { deep: new Uint8Array(210_000) }] }))).toThrow(
      CommitInvalidError,
    );
  });

  it("takes nearly 4 MB in all, and refuses more", () => {
    const writes = Array.from({ length: 10 }, (_, id) => put({ id, blob: blob(400_000) }));

    check(...writes, put({ id: 10, blob: blob(180_000) }));
    expect(() => check(...writes, put({ id: 10, blob: blob(200_000) }))).toThrow("writes[10] is too large");
  });

  it("never counts more than DynamoDB does: a list of numbers that fits is taken", () => {
    check(put({ id: "1", list: Array.from({ length: 100_000 }, (_, index) => index % 10) }));
  });

  it("refuses two actions on one item, whatever the order of its key", () => {
    check(remove({ a: "1", b: 2 }), remove({ a: "1", b: 3 }), {
      Delete: { TableName: "other", Key: { a: "1", b: 2 } },
    });
    expect(() => check(remove({ a: "1", b: 2 }), put({ a: "1" }), remove({ b: 2, a: "1" }))).toThrow(
      "writes[2] is for the same item",
    );
  });

  it("refuses the record itself, and takes other items of the same table", () => {
    const own = { pk: "op##hash", sk: "record" };

    check({ Put: { TableName: "records", Item: { ...own, sk: "order" } } });
    check({ Delete: { TableName: "orders", Key: own } });
    expect(() => check({ Put: { TableName: "records", Item: { ...own, x: 1 } } })).toThrow(
      "the idempotency record",
    );
    expect(() => check({ Delete: { TableName: "records", Key: own } })).toThrow("the idempotency record");
  });
});

describe.each(inject("dynamodbEngines"))("DynamoDBStore's commits on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let orders: string;
  let tableName: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    [tableName, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    store = new DynamoDBStore({ tableName, client });
  });

  const run = (work: (execution: Execution<DynamoDBWrite>) => unknown) =>
    runOnce({ operation: "op", store, leaseSeconds: 30 }, randomUUID(), {}, work);

  const insert = (item: { id: string }): DynamoDBWrite => ({
    Put: {
      TableName: orders,
      Item: item,
      ConditionExpression: "attribute_not_exists(id)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  });

  it("applies all four actions with the record", async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    await run((execution) => execution.commit(1, { writes: [insert({ id: b }), insert({ id: c })] }));
    const Key = { id: b };
    const values = {
      ExpressionAttributeNames: { "#total": "total" },
      ExpressionAttributeValues: { ":total": 1.5 },
    };

    await run((execution) =>
      execution.commit(2, {
        writes: [
          insert({ id: a }),
          { Update: { TableName: orders, Key, UpdateExpression: "SET #total = :total", ...values } },
          { Delete: { TableName: orders, Key: { id: c } } },
          {
            ConditionCheck: {
              TableName: orders,
              Key: { id: "none" },
              ConditionExpression: "attribute_not_exists(id)",
            },
          },
        ],
      }),
    );

    const found = await Promise.all(
      [a, b, c].map(async (id) => {
        const { Item } = await client.send(new GetItemCommand({ TableName: orders, Key: marshall({ id }) }));
        return Item && unmarshall(Item);
      }),
    );
    expect(found).toEqual([{ id: a }, { id: b, total: 1.5 }, undefined]);
  });

  it("tells which write was refused and what was there; then the handler commits something else", async () => {
    const taken = { id: randomUUID(), customer: "somebody" };
    await run((execution) => execution.commit(1, { writes: [insert(taken)] }));

    const answer = await run(async (execution) => {
      const first = execution.commit("created", {
        writes: [insert({ id: randomUUID() }), insert({ id: taken.id })],
      });
      await expect(first).rejects.toMatchObject({ code: "TRANSACTION_CONDITION", index: 1, item: taken });
      return execution.commit("taken");
    });

    expect(answer).toBe("taken");
  });

  it("refuses bad writes before any request, and the handler may mend them", async () => {
    const answer = await run(async (execution) => {
      const bad = [{ Put: { TableName: undefined, Item: {} } }];
      await expect(execution.commit("bad", { writes: bad })).rejects.toThrow(CommitInvalidError);
      const own = { TableName: tableName, Key: { pk: `op##${execution.key}` } };
      await expect(execution.commit("good", { writes: [{ Delete: own }] })).resolves.toBe("good");
      return "good";
    });

    expect(answer).toBe("good");
  });
});
