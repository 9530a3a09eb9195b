import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { randomUUID } from "crypto";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const TableName = process.env.POSTS_TABLE;

const resolvers = {
  getPost: async ({ id }) => (await db.send(new GetCommand({ TableName, Key: { id } }))).Item,
  createPost: async ({ input }, { sub }) => {
    const post = { id: randomUUID(), author: sub, ...input };
    await db.send(new PutCommand({ TableName, Item: post }));
    return post;
  },
};

export const handler = async (event) => {
  const resolve = resolvers[event.info.fieldName];
  if (!resolve) throw new Error(`no resolver for ${event.info.fieldName}`);
  return resolve(event.arguments, event.identity);
};
