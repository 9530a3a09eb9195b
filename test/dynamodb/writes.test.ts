import { describe, expect, it } from "vitest";
import { CommitInvalidError } from "../../lib/core/errors.ts";
import { recordTable } from "../../lib/dynamodb/record-table.ts";
import { type DynamoDBWrite, marshallWrites } from "../../lib/dynamodb/writes.ts";

const TableName = "orders";
const table = recordTable({ tableName: "records", sortKey: { name: "sk", value: "record" } });

const NO_MESSAGES = { values: {}, items: [], bytes: 0 };
const check = (...writes: unknown[]) =>
  marshallWrites(table, writes as DynamoDBWrite[], NO_MESSAGES, "op##hash");
const put = (Item: object) => ({ Put: { TableName, Item } });
const remove = (Key: object) => ({ Delete: { TableName, Key } });
const blob = (bytes: number) => "x".repeat(bytes);

describe("marshallWrites", () => {
  it("passes every action on as DynamoDB accepts it, without undefined properties", () => {
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
    ["no table", { Put: { Item: { id: "1" } } }],
    ["a table from a variable that is not set", { Put: { TableName: undefined, Item: { id: "1" } } }],
    ["a put without item", { Put: { TableName, Key: { id: "1" } } }],
    ["an update without key", { Update: { TableName, Item: { id: "1" } } }],
    ["an action that is text", { Put: "orders" }],
    ["an item that is a list", { Put: { TableName, Item: [1] } }],
    ["a key that is null", { Delete: { TableName, Key: null } }],
  ])("rejects %s and names the place", (_, write) => {
    expect(() => check(put({ id: "0" }), write)).toThrow(CommitInvalidError);
    expect(() => check(put({ id: "0" }), write)).toThrow(/^writes\[1\] must/);
  });

  it("refuses a field that DynamoDB does not know, such as a misspelt condition", () => {
    const misspelt = {
      Put: { TableName, Item: { id: "1" }, ConditonExpression: "attribute_not_exists(id)" },
    };

    expect(() => check(misspelt)).toThrow("writes[0] has an unknown field `ConditonExpression` in its Put");
  });

  it.each<[refusal: string, from: string, write: unknown]>([
    [
      "has an unknown field `ToolboxItem` next to its Put: pass only { Put }",
      "dynamodb-toolbox",
      { ToolboxItem: { id: "1" }, ...put({ id: "1" }) },
    ],
    [
      "has an unknown field `ToolboxItem` in its Put",
      "dynamodb-toolbox, in the action",
      { Put: { TableName, Item: { id: "1" }, ToolboxItem: { id: "1" } } },
    ],
    [
      "has its TableName at the top level: wrap it in the action, as in { Put: params }",
      "ElectroDB's put",
      { TableName, Item: { id: "1", __edb_e__: "order", __edb_v__: "1" } },
    ],
    [
      "has its TableName at the top level: wrap it in the action, as in { Update: params }",
      "ElectroDB's update",
      { UpdateExpression: "SET a = :a", TableName, Key: { id: "1" } },
    ],
    [
      "has its TableName at the top level: wrap it in the action, as in { Delete: params }",
      "ElectroDB's delete",
      { Key: { id: "1" }, TableName },
    ],
    [
      "has an unknown field `ReturnValues` in its Update",
      "an update of a single request",
      { Update: { TableName, Key: { id: "1" }, UpdateExpression: "SET a = :a", ReturnValues: "ALL_NEW" } },
    ],
    [
      "is an unfinished command of a query builder: call its `params()`",
      "a builder",
      { entity: {}, params: () => ({}) },
    ],
    [
      "has an unknown field `Delete` next to its Put: make it a separate write",
      "two actions",
      { ...put({ id: "1" }), ...remove({ id: "2" }) },
    ],
    [
      "with TableName and Item or Key (did you mean `Put`?)",
      "an action in lower case",
      { put: { TableName, Item: { id: "1" } } },
    ],
    [
      "with TableName and Item or Key (valid actions: Put, Update, Delete, ConditionCheck)",
      "another store",
      { table: "orders", key: "1", item: {} },
    ],
  ])("A11: %s (%s)", (refusal, _, write) => {
    expect(() => check(write)).toThrow(CommitInvalidError);
    expect(() => check(write)).toThrow(refusal);
  });

  it("accepts a value whose type is an interface", () => {
    interface Order {
      readonly id: string;
    }
    const order: Order = { id: "1" };
    const write: DynamoDBWrite = { Put: { TableName, Item: order } };

    expect(check(write)).toEqual([{ Put: { TableName, Item: { id: { S: "1" } } } }]);
  });

  it.each([
    ["a symbol", Symbol("secret")],
    ["a class instance", new (class Secret {})()],
    ["a number beyond what is exact", 2 ** 60],
    ["not a number", Number.NaN],
    ["an empty set", new Set()],
  ])("refuses %s as a value", (_, value) => {
    const values = { ":v": value };

    expect(() => check(put({ id: "1", value }))).toThrow("writes[0] has a value that DynamoDB can't store");
    expect(() =>
      check({ Delete: { TableName, Key: { id: "1" }, ExpressionAttributeValues: values } }),
    ).toThrow(CommitInvalidError);
  });

  it.each([
    ["an address", new URL("https://user:canary-5f2e@example.com/"), "is a URL"],
    ["a number", 2 ** 72, "is a number beyond"],
    [
      "a class instance",
      new (class Card {
        toString = () => "canary-5f2e";
      })(),
      "is a Card",
    ],
  ])("H38: names the place of %s that can't be stored, and repeats nothing of it", (_, value, kind) => {
    const refused = () => check(put({ id: "1", payment: { parts: [1, { value }] } }));

    expect(refused).toThrow(
      `writes[0] has a value that DynamoDB can't store: Put.Item.payment.parts.1.value ${kind}`,
    );
    expect(refused).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
  });

  it("refuses a value that holds itself", () => {
    const item: Record<string, unknown> = { id: "1" };
    item.self = item;

    expect(() => check(put(item))).toThrow(CommitInvalidError);
  });

  it("accepts 99 writes, and rejects 100", () => {
    const writes = Array.from({ length: 99 }, (_, id) => put({ id }));

    expect(check(...writes)).toHaveLength(99);
    expect(() => check(...writes, put({ id: 99 }))).toThrow("at most 99");
  });

  it("accepts an item of nearly 400 KB, and rejects one beyond", () => {
    check(put({ id: "1", blob: blob(409_000) }));
    expect(() => check(put({ id: "1", blob: blob(409_600) }))).toThrow(CommitInvalidError);
    expect(() => check(put({ id: "1", list: [blob(200_000), { deep: new Uint8Array(210_000) }] }))).toThrow(
      CommitInvalidError,
    );
  });

  it("accepts nearly 4 MB in all, and rejects more", () => {
    const writes = Array.from({ length: 10 }, (_, id) => put({ id, blob: blob(400_000) }));

    check(...writes, put({ id: 10, blob: blob(180_000) }));
    expect(() => check(...writes, put({ id: 10, blob: blob(200_000) }))).toThrow(
      "writes[10] makes the commit larger than 4 MB",
    );
  });

  it("never counts more than DynamoDB does: an array of numbers that fits is accepted", () => {
    check(put({ id: "1", list: Array.from({ length: 100_000 }, (_, index) => index % 10) }));
  });

  it("rejects two actions on one item, whatever the order of its key", () => {
    check(remove({ a: "1", b: 2 }), remove({ a: "1", b: 3 }), {
      Delete: { TableName: "other", Key: { a: "1", b: 2 } },
    });
    expect(() => check(remove({ a: "1", b: 2 }), put({ a: "1" }), remove({ b: 2, a: "1" }))).toThrow(
      "writes[2] writes the same item",
    );
  });

  it("rejects an action on the record itself, and accepts other items of the same table", () => {
    const own = { pk: "op##hash", sk: "record" };

    check({ Put: { TableName: "records", Item: { ...own, sk: "order" } } });
    check({ Delete: { TableName: "orders", Key: own } });
    expect(() => check({ Delete: { TableName: "records", Key: own } })).toThrow("or the record itself");
  });
});
