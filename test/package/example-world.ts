// A DynamoDB engine with the tables that the first example of the README needs. It is an engine of its own,
// because the example names its table of orders by a name that others could use too.
import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { availableDynamoDBEngines, startDynamoDB } from "../../packages/local/lib/dynamodb-engine.ts";

const ORDERS = "orders";
const region = "us-east-1";
const credentials = { accessKeyId: "consumer", secretAccessKey: "consumer" };

export interface OrderTables {
  /** What a consumer finds in its environment: where the engine is, and a new table of records. */
  createEnvironment(): Promise<Record<string, string>>;
  countOrders(): Promise<number>;
  stop(): Promise<void>;
}

export async function startOrderTables(): Promise<OrderTables> {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  // The quickest.
  const name = (await availableDynamoDBEngines()).at(-1);
  const engine = await startDynamoDB({ endpoint, engine: name });
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region, credentials });
  await createTable(client, ORDERS, "id");

  return {
    createEnvironment: async () => {
      const records = `records-${randomUUID()}`;
      await createTable(client, records, "pk");
      return {
        IDEMPOTENCY_TABLE: records,
        AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      };
    },
    countOrders: async () => (await client.send(new ScanCommand({ TableName: ORDERS }))).Count ?? 0,
    stop: async () => {
      client.destroy();
      await engine.stop();
    },
  };
}

async function createTable(client: DynamoDBClient, name: string, key: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: key, AttributeType: "S" }],
      KeySchema: [{ AttributeName: key, KeyType: "HASH" }],
    }),
  );
}
