// Tables and clients for tests against a real engine. A table of its own for every test file, and none is deleted:
// the engines are empty when they start and end with the run.
import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../../lib/contract.ts";

export function connect(endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new DynamoDBClient({ endpoint, region: "eu-central-1", credentials, ...config });
}

/** With these variables a client without any option reaches the same tables. */
export function environmentFor(endpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
}

/** Resolves to the name of a fresh table whose keys are strings. TTL is off: nothing disappears by itself. */
export function createTable(
  client: DynamoDBClient,
  partitionKey?: string,
  sortKey?: string,
): Promise<string> {
  return create(client, keyOf("S", partitionKey ?? "pk", sortKey), {});
}

const INDEXES = {
  [OUTBOX_INDEX]: keyOf("N", ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince),
  [UNSETTLED_INDEX]: keyOf("N", ATTRIBUTES.unsettledShard, ATTRIBUTES.unsettledSince),
};

/** The same with a stream of new images, and the sparse indexes of the sweeper and of unknown outcomes, or one of them. */
export function createOutboxTable(
  client: DynamoDBClient,
  partitionKey?: string,
  sortKey?: string,
  indexes = Object.keys(INDEXES) as (keyof typeof INDEXES)[],
): Promise<string> {
  return create(client, keyOf("S", partitionKey ?? "pk", sortKey), {
    GlobalSecondaryIndexes: indexes.map((IndexName) => ({
      IndexName,
      KeySchema: INDEXES[IndexName].KeySchema,
      Projection: { ProjectionType: "KEYS_ONLY" },
    })),
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" },
    AttributeDefinitions: indexes.flatMap((name) => INDEXES[name].AttributeDefinitions),
  });
}

function keyOf(AttributeType: "S" | "N", ...names: (string | undefined)[]) {
  const present = names.filter((name) => name !== undefined);
  return {
    KeySchema: present.map((AttributeName, index) => ({
      AttributeName,
      KeyType: index === 0 ? ("HASH" as const) : ("RANGE" as const),
    })),
    AttributeDefinitions: present.map((AttributeName) => ({ AttributeName, AttributeType })),
  };
}

async function create(
  client: DynamoDBClient,
  { KeySchema, AttributeDefinitions }: ReturnType<typeof keyOf>,
  more: Partial<CreateTableCommandInput>,
): Promise<string> {
  const TableName = `records-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      ...more,
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema,
      AttributeDefinitions: [...AttributeDefinitions, ...(more.AttributeDefinitions ?? [])],
    }),
  );
  return TableName;
}
