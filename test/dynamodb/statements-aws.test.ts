// What only AWS can show about statements in batches: what they cost, and which item comes with a refusal. Skipped by default: it
// needs an account, creates a table in it and costs some cents. To run it, give credentials, a region and ONCEONLY_AWS_TESTS=1.
import { randomUUID } from "node:crypto";
import {
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const isAsked = process.env.ONCEONLY_AWS_TESTS !== undefined;
if (!isAsked) console.info("skipped: statements on AWS, which take an account (ONCEONLY_AWS_TESTS=1)");

describe.runIf(isAsked)("statements in batches, on AWS", () => {
  const TableName = `onceonly-test-${randomUUID()}`;
  let client: DynamoDBClient;

  beforeAll(async () => {
    client = new DynamoDBClient({});
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      }),
    );
    await waitUntilTableExists({ client, maxWaitTime: 120 }, { TableName });
  }, 180_000);

  afterAll(async () => {
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  });

  const insert = (pk: string): BatchStatementRequest => ({
    Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'state': ?, 'token': ?}`,
    Parameters: [{ S: pk }, { S: "in-progress" }, { S: "t" }],
  });
  const update = (pk: string, token: string): BatchStatementRequest => ({
    Statement: `UPDATE "${TableName}" SET "state" = ? SET "completedAt" = ? WHERE "pk" = ? AND "token" = ?`,
    Parameters: [{ S: "completed" }, { N: "1" }, { S: pk }, { S: token }],
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  const send = (Statements: BatchStatementRequest[]) =>
    client.send(new BatchExecuteStatementCommand({ Statements, ReturnConsumedCapacity: "TOTAL" }));

  it("cost a write unit each, and accept several SETs", async () => {
    const inserted = await send(["a", "b", "c"].map(insert));
    const updated = await send(["a", "b", "c"].map((pk) => update(pk, "t")));

    for (const { Responses, ConsumedCapacity = [] } of [inserted, updated]) {
      expect(Responses?.map((each) => each.Error)).toEqual([undefined, undefined, undefined]);
      expect(ConsumedCapacity.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0)).toBe(3);
    }
  });

  it("are refused each by itself, an update with the item", async () => {
    await send([insert("there")]);

    const { Responses } = await send([insert("there"), insert("new")]);
    const { Responses: updates } = await send([update("there", "another")]);

    expect(Responses?.map((each) => each.Error?.Code)).toEqual(["DuplicateItem", undefined]);
    expect(updates?.[0]?.Error).toMatchObject({
      Code: "ConditionalCheckFailed",
      Item: { pk: { S: "there" } },
    });
  });
});
