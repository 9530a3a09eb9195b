const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, GetCommand, PutCommand } = require("@aws-sdk/lib-dynamodb");
const express = require("express");
const serverless = require("serverless-http");

const { USERS_TABLE } = process.env;
const db = DynamoDBDocumentClient.from(new DynamoDBClient());
const app = express();

app.use(express.json());

app.get("/users/:userId", async (req, res) => {
  const { Item } = await db.send(
    new GetCommand({ TableName: USERS_TABLE, Key: { userId: req.params.userId } }),
  );
  if (!Item) return res.status(404).json({ error: "no such user" });
  res.json(Item);
});

app.post("/users", async (req, res) => {
  const { userId, name } = req.body;
  if (typeof userId !== "string" || typeof name !== "string") {
    return res.status(400).json({ error: "userId and name must be strings" });
  }
  await db.send(new PutCommand({ TableName: USERS_TABLE, Item: { userId, name } }));
  res.status(201).json({ userId, name });
});

app.use((req, res) => res.status(404).json({ error: "not found" }));

exports.handler = serverless(app);
