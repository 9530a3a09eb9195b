import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { configure } from "@vendia/serverless-express";
import express, { type Request, type Response } from "express";

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const TableName = process.env.PAGES_TABLE;
const app = express();

app.post("/pages/:id/visits", async (req: Request, res: Response) => {
  const { Attributes } = await client.send(
    new UpdateCommand({
      TableName,
      Key: { id: req.params.id },
      UpdateExpression: "ADD visits :one",
      ExpressionAttributeValues: { ":one": 1 },
      ReturnValues: "ALL_NEW",
    }),
  );
  console.log("visited", Attributes?.id);
  res.status(204).end();
});

export const handler = configure({ app });
