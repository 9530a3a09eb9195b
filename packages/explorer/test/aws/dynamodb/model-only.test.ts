// What is the model's own: capacity that no response contains, what it does not have, and that it repeats itself.
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../../../lib/testing/fake-clock.ts";
import { DynamoDBModel } from "../../../lib/aws/dynamodb/dynamodb-model.ts";
import type { DynamoDBOperationName } from "../../../lib/aws/dynamodb/operations.ts";
import { cancelled, refused } from "./cases/case.ts";
import { B, keySchema, N, S } from "./cases/given.ts";
import { modelWithTable } from "./given.ts";

const Key = { pk: S("a") };
const ConditionExpression = "attribute_not_exists(pk)";

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
describe("DynamoDBModel.usedCapacity", () => {
  it("counts a write that its condition refuses by the item that refused it", async () => {
    const { model, TableName } = await modelWithTable();
    await model.call("PutItem", { TableName, Item: { ...Key, data: S("x".repeat(2500)) } });

    await refused(
      model.call("PutItem", { TableName, Item: Key, ConditionExpression }),
      "ConditionalCheckFailedException",
    );
    expect(model.usedCapacity(TableName)).toEqual({ readUnits: 0, writeUnits: 6 });
    const missing = { TableName, Key: { pk: S("b") }, ConditionExpression: "attribute_exists(pk)" };
    await refused(model.call("DeleteItem", missing), "ConditionalCheckFailedException");
    expect(model.usedCapacity(TableName)).toEqual({ readUnits: 0, writeUnits: 7 });
  });

  it("counts a transaction that is cancelled", async () => {
    const { model, TableName } = await modelWithTable();
    await model.call("PutItem", { TableName, Item: Key });
    const Put = { TableName, Item: Key, ConditionExpression };

    await cancelled(model.call("TransactWriteItems", { TransactItems: [{ Put }] }));

    expect(model.usedCapacity(TableName)).toEqual({ readUnits: 0, writeUnits: 3 });
  });

  it("counts nothing for a malformed request, and all reads", async () => {
    const { model, TableName } = await modelWithTable();

    await refused(model.call("PutItem", { TableName, Item: {} }), "ValidationException");
    await model.call("GetItem", { TableName, Key });
    await model.call("Scan", { TableName, ConsistentRead: true });
    await model.call("TransactGetItems", { TransactItems: [{ Get: { TableName, Key } }] });
    await model.call("BatchGetItem", { RequestItems: { [TableName]: { Keys: [Key] } } });

    expect(model.usedCapacity(TableName)).toEqual({ readUnits: 4, writeUnits: 0 });
  });
});

describe("DynamoDBModel's scans", () => {
  it("find each item once though the hashes of two keys are equal", async () => {
    const { model, TableName } = await modelWithTable();
    const keys = ["b542ca4b", "09dbda0e"].map((text) => ({ pk: S(text) }));
    for (const Item of keys) await model.call("PutItem", { TableName, Item });

    const first = await model.call("Scan", { TableName, Limit: 1 });
    const second = await model.call("Scan", { TableName, ExclusiveStartKey: first.LastEvaluatedKey });

    expect([...(first.Items ?? []), ...(second.Items ?? [])]).toEqual(expect.arrayContaining(keys));
    expect([first.Count, second.Count]).toEqual([1, 1]);
  });
});

describe("DynamoDBModel.call", () => {
  it("keeps its stored values apart from its inputs and outputs", async () => {
    const { model, TableName } = await modelWithTable();
    const bytes = new Uint8Array([1]);
    const Item = { ...Key, bytes: { B: bytes }, list: { L: [N(1)] } };
    await model.call("PutItem", { TableName, Item });

    bytes[0] = 2;
    Item.list.L.push(N(2));
    const first = (await model.call("GetItem", { TableName, Key })).Item as typeof Item;
    first.bytes.B[0] = 3;
    first.list.L.length = 0;

    const { Item: stored } = await model.call("GetItem", { TableName, Key });
    expect(stored).toEqual({ ...Key, bytes: B(1), list: { L: [N(1)] } });
  });

  it("gives the same answers to the same calls", async () => {
    const answers = async () => {
      const model = new DynamoDBModel({ clock: fakeClock() });
      const input = {
        TableName: "table",
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: keySchema([["pk", "S"]]),
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        StreamSpecification: { StreamEnabled: true, StreamViewType: "KEYS_ONLY" },
      };
      const { TableDescription } = await model.call("CreateTable", input);
      await model.call("PutItem", { TableName: "table", Item: Key });
      const StreamArn = String(TableDescription.LatestStreamArn);
      const { StreamDescription } = await model.call("DescribeStream", { StreamArn });
      const [{ ShardId }] = StreamDescription.Shards as readonly [{ readonly ShardId: string }];
      const at = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" };
      const { ShardIterator } = await model.call("GetShardIterator", at);
      return [TableDescription, StreamDescription, await model.call("GetRecords", { ShardIterator })];
    };

    expect(await answers()).toEqual(await answers());
  });

  it("refuses operations and parameters that it does not have, instead of leaving them out", async () => {
    const { model, TableName } = await modelWithTable();

    await refused(
      model.call("ExecuteStatement" as DynamoDBOperationName, {} as never),
      "UnknownOperationException",
    );
    const select = { Statement: `SELECT * FROM "${TableName}" WHERE "pk" = ?`, Parameters: [Key.pk] };
    const { Responses } = await model.call("BatchExecuteStatement", { Statements: [select] });
    expect(Responses).toMatchObject([{ Error: { Code: "ValidationError" } }]);
    const legacy = { TableName, Item: Key, Expected: { pk: { Exists: false } } };
    await refused(model.call("PutItem", legacy), "ValidationException");
    const AttributeDefinitions = [{ AttributeName: "pk", AttributeType: "S" }];
    const table = { TableName: "other", KeySchema: keySchema([["pk", "S"]]), AttributeDefinitions };
    const create = { ...table, BillingMode: "PAY_PER_REQUEST", LocalSecondaryIndexes: [] };
    await refused(model.call("CreateTable", create), "ValidationException");
  });

  it("rejects what the SDK would not send either", async () => {
    const { model, TableName } = await modelWithTable();

    await refused(model.call("PutItem", { TableName } as never), "ValidationException");
    await refused(model.call("GetItem", { TableName: "a b", Key }), "ValidationException");
    await refused(model.call("TransactGetItems", { TransactItems: [{}] }), "ValidationException");
    const Put = { TableName, Item: Key, ReturnValuesOnConditionCheckFailure: "ALL_NEW" };
    await refused(model.call("TransactWriteItems", { TransactItems: [{ Put }] }), "ValidationException");
    for (const Limit of [0, 101]) await refused(model.call("ListTables", { Limit }), "ValidationException");
    await refused(model.call("ListStreams", { Limit: 0 }), "ValidationException");
  });

  it("does not delete a table that is protected", async () => {
    const model = new DynamoDBModel();
    const AttributeDefinitions = [{ AttributeName: "pk", AttributeType: "S" }];
    const table = { TableName: "table", KeySchema: keySchema([["pk", "S"]]), AttributeDefinitions };
    await model.call("CreateTable", {
      ...table,
      BillingMode: "PAY_PER_REQUEST",
      DeletionProtectionEnabled: true,
    });

    await refused(model.call("DeleteTable", { TableName: "table" }), "ValidationException");
  });
});
