// Tables and clients for tests against a real engine. A table of its own for every test file, and none is deleted:
// the engines are empty when they start and end with the run.
import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";

export function connect(endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new DynamoDBClient({ endpoint, region: "eu-central-1", credentials, ...config });
}

/** Resolves to the name of a fresh table whose keys are strings. TTL is off: nothing disappears by itself. */
export async function createTable(
  client: DynamoDBClient,
  partitionKey = "pk",
  sortKey?: string,
): Promise<string> {
  const TableName = `records-${randomUUID()}`;
  const names = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: names.map((AttributeName, index) => ({
        AttributeName,
        KeyType: index === 0 ? "HASH" : "RANGE",
      })),
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    }),
  );
  return TableName;
}
