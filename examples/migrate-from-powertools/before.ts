// Before: Powertools claims the key, the handler debits the wallet, Powertools records the answer. Three writes.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { Context } from "aws-lambda";

const client = DynamoDBDocumentClient.from(new DynamoDBClient());

export const handler = makeIdempotent(
  async (
    { orderId, wallet, cents }: { orderId: string; wallet: string; cents: number },
    _context: Context,
  ) => {
    await client.send(
      new UpdateCommand({
        TableName: process.env.WALLETS_TABLE,
        Key: { wallet },
        UpdateExpression: "SET balance = balance - :cents",
        ConditionExpression: "balance >= :cents",
        ExpressionAttributeValues: { ":cents": cents },
      }),
    );
    return { orderId, paid: cents };
  },
  {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName: process.env.POWERTOOLS_TABLE! }),
    config: new IdempotencyConfig({ eventKeyJmesPath: "orderId", expiresAfterSeconds: 86_400 }),
  },
);
