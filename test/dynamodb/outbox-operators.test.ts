// What operators see and decide, on DynamoDB.
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, inject, it } from "vitest";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { COMMITTED_AT, operatorCases } from "../core/messages/operated-outbox-given.ts";
import { connect } from "../kit/tables.ts";
import { messageOf, newOutboxTable } from "./outbox-given.ts";

describe.each(inject("dynamodbEngines"))("operators of DynamoDBOutbox on $name", ({ endpoint }) => {
  const client = connect(endpoint);

  operatorCases(async () => {
    const table = await newOutboxTable(client, endpoint);
    return {
      outbox: table.outbox,
      async commit(bytes) {
        const messages = [messageOf("order-7/created", bytes), messageOf("order-7/paid", bytes)];
        const { recordKey, finish } = await table.begin("claimed", { messages, now: COMMITTED_AT });
        await finish();
        return { recordKey, messages };
      },
      async damage(recordKey) {
        await client.send(
          new UpdateItemCommand({
            TableName: table.tableName,
            Key: { pk: { S: recordKey } },
            UpdateExpression: "SET #messages = :damage",
            ExpressionAttributeNames: { "#messages": "messages" },
            ExpressionAttributeValues: { ":damage": { S: "[{" } },
          }),
        );
      },
      async kept(recordKey) {
        const { delivery, expiresAt, evidence } = (await table.read(recordKey))!;
        return {
          progress: `${delivery}`,
          expires: typeof expiresAt === "number",
          evidence: JSON.parse(`${evidence}`),
        };
      },
      async judge(recordKey, evidence) {
        await client.send(
          new UpdateItemCommand({
            TableName: table.tableName,
            Key: { pk: { S: recordKey } },
            UpdateExpression: "SET evidence = :evidence",
            ExpressionAttributeValues: { ":evidence": { S: evidence } },
          }),
        );
      },
    };
  });

  it("passes on that the index cannot be read", async () => {
    const { tableName } = await newOutboxTable(client, endpoint);
    const other = new DynamoDBOutbox({ tableName, client, indexName: "none" });

    await expect(other.list("waiting").next()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
