/** Tables: how they are created, described and deleted, and time to live. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { CreateTableInput } from "../../../../lib/aws/dynamodb/table-operations.ts";
import { api, guide, recorded, refused, shows } from "./case.ts";
import { get, keySchema, N, newKey, newTable, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

const TABLE = {
  KeySchema: keySchema([["pk", "S"]]),
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  BillingMode: "PAY_PER_REQUEST",
};

function create(subject: DynamoDBSubject, more: Partial<CreateTableInput> = {}) {
  return subject.call("CreateTable", { TableName: `table-${randomUUID()}`, ...TABLE, ...more });
}

const define = (AttributeName: string, AttributeType = "S") => ({ AttributeName, AttributeType });
const index = (more: object = {}) => ({
  IndexName: "index",
  KeySchema: TABLE.KeySchema,
  Projection: { ProjectionType: "ALL" },
  ...more,
});

const REFUSED: Readonly<Record<string, Partial<CreateTableInput>>> = {
  "a name of two characters": { TableName: "ab" },
  "a name of 256 characters": { TableName: "a".repeat(256) },
  "a name with a space": { TableName: "a b c" },
  "no partition key": { KeySchema: [{ AttributeName: "pk", KeyType: "RANGE" }] },
  "two partition keys": {
    KeySchema: ["pk", "sk"].map((AttributeName) => ({ AttributeName, KeyType: "HASH" })),
    AttributeDefinitions: [define("pk"), define("sk")],
  },
  "three keys": {
    KeySchema: [
      ...keySchema([
        ["pk", "S"],
        ["sk", "S"],
      ]),
      { AttributeName: "tk", KeyType: "RANGE" },
    ],
    AttributeDefinitions: [define("pk"), define("sk"), define("tk")],
  },
  "one attribute as both keys": {
    KeySchema: keySchema([
      ["pk", "S"],
      ["pk", "S"],
    ]),
  },
  "a key that is not defined": { AttributeDefinitions: [define("other")] },
  "a definition that is not used": { AttributeDefinitions: [define("pk"), define("other")] },
  "a set as key": { AttributeDefinitions: [define("pk", "SS")] },
  "no throughput": { BillingMode: "PROVISIONED" },
  "throughput on demand": { ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } },
  "a stream of nothing": { StreamSpecification: { StreamEnabled: true } },
  "no stream, of new images": { StreamSpecification: { StreamEnabled: false, StreamViewType: "NEW_IMAGE" } },
  "an empty list of indexes": { GlobalSecondaryIndexes: [] },
  "two indexes of one name": { GlobalSecondaryIndexes: [index(), index()] },
  "an index of all and some": {
    GlobalSecondaryIndexes: [index({ Projection: { ProjectionType: "ALL", NonKeyAttributes: ["a"] } })],
  },
  "an index of some that are none": {
    GlobalSecondaryIndexes: [index({ Projection: { ProjectionType: "INCLUDE" } })],
  },
  "an index of a key that is not defined": {
    GlobalSecondaryIndexes: [index({ KeySchema: keySchema([["other", "S"]]) })],
  },
};

export const tableCases = [
  ...Object.entries(REFUSED).map(([what, more]) =>
    shows(`a table with ${what} is refused`, api("CreateTable"), async (subject) => {
      await refused(create(subject, more), "ValidationException");
    }),
  ),
  shows("a table is described as it was created", recorded("tier1/describeTable/basic"), async (subject) => {
    const TableName = await newTable(subject, {
      sortKey: "N",
      indexes: [{ name: "by-color", keys: [["color", "S"]], includes: ["size"] }],
      viewType: "NEW_IMAGE",
    });

    const { Table } = await subject.call("DescribeTable", { TableName });

    expect(Table).toMatchObject({
      TableName,
      TableStatus: "ACTIVE",
      TableArn: expect.stringMatching(new RegExp(`:table/${TableName}$`)),
      KeySchema: keySchema([
        ["pk", "S"],
        ["sk", "N"],
      ]),
      ItemCount: 0,
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" },
      LatestStreamArn: expect.stringContaining(`/${TableName}/stream/`),
      GlobalSecondaryIndexes: [
        {
          IndexName: "by-color",
          IndexStatus: "ACTIVE",
          KeySchema: keySchema([["color", "S"]]),
          Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["size"] },
        },
      ],
    });
    expect(new Date(Table.CreationDateTime as string).getTime()).toBeGreaterThan(0);
  }),
  shows("a name is taken once", recorded("tier1/createTable/basic"), async (subject) => {
    const TableName = await newTable(subject);

    await refused(create(subject, { TableName }), "ResourceInUseException");
  }),
  shows(
    "a deleted table is gone, and so are its items when it comes back",
    api("DeleteTable"),
    async (subject) => {
      const TableName = await newTable(subject);
      const Key = newKey();
      await subject.call("PutItem", { TableName, Item: Key });

      await subject.call("DeleteTable", { TableName });

      await refused(get(subject, { TableName, Key }), "ResourceNotFoundException");
      await create(subject, { TableName });
      expect(await get(subject, { TableName, Key })).toBeUndefined();
    },
  ),
  shows("a table that is not there is not found", api("DescribeTable"), async (subject) => {
    const at = { TableName: "no-such-table", Key: newKey() };

    await refused(subject.call("DescribeTable", at), "ResourceNotFoundException");
    await refused(subject.call("DeleteTable", at), "ResourceNotFoundException");
    await refused(subject.call("PutItem", { ...at, Item: at.Key }), "ResourceNotFoundException");
    await refused(subject.call("UpdateItem", at), "ResourceNotFoundException");
    await refused(subject.call("DeleteItem", at), "ResourceNotFoundException");
    await refused(get(subject, at), "ResourceNotFoundException");
    await refused(subject.call("Scan", at), "ResourceNotFoundException");
    const query = { KeyConditionExpression: "pk = :a", ExpressionAttributeValues: { ":a": S("a") } };
    await refused(subject.call("Query", { ...at, ...query }), "ResourceNotFoundException");
  }),
  shows(
    "tables are listed in the order of their names",
    recorded("tier1/listTables/basic"),
    async (subject) => {
      const prefix = randomUUID();
      for (const letter of ["b", "a"]) await create(subject, { TableName: `${prefix}-${letter}` });

      const { TableNames, LastEvaluatedTableName } = await subject.call("ListTables", {
        ExclusiveStartTableName: prefix,
        Limit: 1,
      });

      expect([TableNames, LastEvaluatedTableName]).toEqual([[`${prefix}-a`], `${prefix}-a`]);
    },
  ),
  shows("what is written can be read from the table's ARN", api("GetItem"), async (subject) => {
    const TableName = await newTable(subject);
    const { Table } = await subject.call("DescribeTable", { TableName });
    const Key = newKey();
    await subject.call("PutItem", { TableName: String(Table.TableArn), Item: { ...Key, a: N(1) } });

    expect(await get(subject, { TableName, Key })).toEqual({ ...Key, a: N(1) });
  }),
];

export const timeToLiveCases = [
  shows("time to live is switched on and off", api("UpdateTimeToLive"), async (subject) => {
    const TableName = await newTable(subject);
    const update = (Enabled: boolean, AttributeName = "expiresAt") =>
      subject.call("UpdateTimeToLive", { TableName, TimeToLiveSpecification: { AttributeName, Enabled } });
    const describe = async () =>
      (await subject.call("DescribeTimeToLive", { TableName })).TimeToLiveDescription;

    expect(await describe()).toEqual({ TimeToLiveStatus: "DISABLED" });
    await refused(update(false), "ValidationException");
    await update(true);
    expect(await describe()).toEqual({ TimeToLiveStatus: "ENABLED", AttributeName: "expiresAt" });
    await refused(update(true), "ValidationException");
    await refused(update(true, "other"), "ValidationException");
    await refused(update(false, "other"), "ValidationException");
    await update(false);
    expect(await describe()).toEqual({ TimeToLiveStatus: "DISABLED" });
  }),
  shows("what has expired may still be there", guide("TTL"), async (subject) => {
    const TableName = await newTable(subject);
    const TimeToLiveSpecification = { AttributeName: "expiresAt", Enabled: true };
    await subject.call("UpdateTimeToLive", { TableName, TimeToLiveSpecification });
    const Key = newKey();

    await subject.call("PutItem", { TableName, Item: { ...Key, expiresAt: N(1_600_000_000) } });

    expect(await get(subject, { TableName, Key })).toEqual({ ...Key, expiresAt: N(1_600_000_000) });
  }),
];
