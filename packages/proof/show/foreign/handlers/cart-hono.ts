import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { Hono } from "hono";
import { handle } from "hono/aws-lambda";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const app = new Hono();

app.post("/carts/:id/lines", async (c) => {
  const line = await c.req.json<{ sku: string; pieces: number }>();
  const { Attributes } = await db.send(
    new UpdateCommand({
      TableName: process.env.CARTS_TABLE,
      Key: { id: c.req.param("id") },
      UpdateExpression: "SET #lines = list_append(if_not_exists(#lines, :none), :line)",
      ExpressionAttributeNames: { "#lines": "lines" },
      ExpressionAttributeValues: { ":none": [], ":line": [line] },
      ReturnValues: "UPDATED_NEW",
    }),
  );
  return c.json({ lines: Attributes?.lines }, 201);
});

export const handler = handle(app);
