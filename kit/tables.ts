// Tables and clients for tests against a real engine. A table of its own for every test file, and none is deleted:
// the engines are empty when they start and end with the run.
import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../lib/contract.ts";

export function connect(endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new DynamoDBClient({ endpoint, region: "eu-central-1", credentials, ...config });
}

/** Resolves to the name of a fresh table whose keys are strings. TTL is off: nothing disappears by itself. */
export function createTable(
  client: DynamoDBClient,
  partitionKey?: string,
  sortKey?: string,
): Promise<string> {
  return create(client, keyOf("S", partitionKey ?? "pk", sortKey), {});
}

/** The same with a stream of new images, and the sparse indexes: of the sweeper, and of unknown outcomes. */
export function createOutboxTable(
  client: DynamoDBClient,
  partitionKey?: string,
  sortKey?: string,
): Promise<string> {
  const unsent = keyOf("N", ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince);
  const unsettled = keyOf("N", ATTRIBUTES.unsettledShard, ATTRIBUTES.unsettledSince);
  const Projection = { ProjectionType: "KEYS_ONLY" } as const;
  return create(client, keyOf("S", partitionKey ?? "pk", sortKey), {
    GlobalSecondaryIndexes: [
      { IndexName: OUTBOX_INDEX, KeySchema: unsent.KeySchema, Projection },
      { IndexName: UNSETTLED_INDEX, KeySchema: unsettled.KeySchema, Projection },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" },
    AttributeDefinitions: [...unsent.AttributeDefinitions, ...unsettled.AttributeDefinitions],
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
