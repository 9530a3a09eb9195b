import { describe, expect, it } from "vitest";
import { N, S } from "./cases/given.ts";
import { modelWithTable } from "./given.ts";

const Key = { pk: S("a") };

describe("DynamoDBModel with stale reads", () => {
  async function written() {
    const reads: unknown[] = [];
    const given = await modelWithTable({
      isStale: (read) => {
        reads.push(read);
        return true;
      },
    });
    const { model, TableName } = given;
    for (const n of [1, 2]) await model.call("PutItem", { TableName, Item: { ...Key, n: N(n) } });
    return { ...given, reads };
  }

  it("gives eventually consistent gets the version before the last write, and reports whose that is", async () => {
    const { clock, model, TableName, reads } = await written();

    expect((await model.call("GetItem", { TableName, Key })).Item).toEqual({ ...Key, n: N(1) });
    expect(reads).toEqual([{ tableName: TableName, key: Key, writtenAt: clock.now() }]);
    const RequestItems = { [TableName]: { Keys: [Key] } };
    expect((await model.call("BatchGetItem", { RequestItems })).Responses[TableName]).toEqual([
      { ...Key, n: N(1) },
    ]);
  });

  it("is asked for a query's items in its partition only", async () => {
    const { model, TableName, reads } = await written();
    for (const n of [1, 2]) await model.call("PutItem", { TableName, Item: { pk: S("other"), n: N(n) } });
    const ExpressionAttributeValues = { ":a": S("a") };

    await model.call("Query", { TableName, KeyConditionExpression: "pk = :a", ExpressionAttributeValues });

    expect(reads).toMatchObject([{ key: Key }]);
  });

  it("never gives it to consistent reads and transactions", async () => {
    const { model, TableName } = await written();
    const current = { ...Key, n: N(2) };

    expect((await model.call("GetItem", { TableName, Key, ConsistentRead: true })).Item).toEqual(current);
    expect((await model.call("Scan", { TableName, ConsistentRead: true })).Items).toEqual([current]);
    const { Responses } = await model.call("TransactGetItems", {
      TransactItems: [{ Get: { TableName, Key } }],
    });
    expect(Responses).toEqual([{ Item: current }]);
  });

  it("shows deleted items, and not new ones, in queries, scans and indexes", async () => {
    const { model, TableName } = await written();
    await model.call("PutItem", { TableName, Item: { pk: S("new"), n: N(2) } });
    await model.call("DeleteItem", { TableName, Key });
    const find = (IndexName: string | undefined, name: string, value: { S: string } | { N: string }) =>
      model.call("Query", {
        TableName,
        IndexName,
        KeyConditionExpression: `${name} = :v`,
        ExpressionAttributeValues: { ":v": value },
      });

    expect((await model.call("Scan", { TableName })).Items).toEqual([{ ...Key, n: N(2) }]);
    expect((await find("by-n", "n", N(2))).Items).toEqual([{ ...Key, n: N(2) }]);
    expect((await find(undefined, "pk", S("a"))).Items).toEqual([{ ...Key, n: N(2) }]);
    expect((await find(undefined, "pk", S("new"))).Items).toEqual([]);
  });
});
