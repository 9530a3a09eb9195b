// A row under the caller's key keeps the order single; who asks again, as its answer was lost, is refused for ever.
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

function creating(statusWhenThere: number) {
  return async ({ headers }: HttpEvent) => {
    const id = headers["idempotency-key"];
    const command = new PutCommand({
      TableName: process.env.ORDERS_TABLE,
      Item: { tenant: "acme", id },
      ConditionExpression: "attribute_not_exists(id)",
    });
    try {
      await database.send(command);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { statusCode: statusWhenThere };
    }
    return { statusCode: 201 };
  };
}

export const handler = creating(409);

export const mended = creating(201);
