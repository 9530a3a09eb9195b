// The run's tables, past the proxies: created, filled with stock, and read to see the written data.
import { setTimeout as sleep } from "node:timers/promises";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, paginateQuery, paginateScan, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ATTRIBUTES, OUTBOX_INDEX } from "../../../../lib/contract.ts";

/** The rows under one key, and how often they were written. */
export interface Rows {
  readonly runs: readonly number[];
  readonly count: number;
  /** For a message, the runs that sent it. */
  readonly senders: readonly number[];
}

export interface Tables {
  readonly records: string;
  readonly effects: string;
  /** The stream of the records. */
  readonly streamArn: string;
  rows(key: string): Promise<Rows>;
  /** How many rows there are under a key. */
  countOf(key: string): Promise<number>;
  addStock(product: string, pieces: number): Promise<void>;
  /** Commits whose messages have not been marked as sent. */
  unsent(): Promise<number>;
  close(): void;
}

const MOST_TRIES = 5;
const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

export async function createTables(endpoint: string, prefix: string): Promise<Tables> {
  const base = new DynamoDBClient({
    endpoint,
    region: "us-east-1",
    credentials: CREDENTIALS,
    maxAttempts: 10,
  });
  const client = DynamoDBDocumentClient.from(base);
  const [records, effects] = [`${prefix}-records`, `${prefix}-effects`];
  const streamArn = await createRecords(base, records);
  await createEffects(base, effects);

  async function read(pk: string): Promise<Record<string, unknown>[]> {
    const input = {
      TableName: effects,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": pk },
      ConsistentRead: true,
    };
    return patiently(async () => {
      const items: Record<string, unknown>[] = [];
      for await (const page of paginateQuery({ client }, input)) items.push(...(page.Items ?? []));
      return items;
    });
  }

  return {
    records,
    effects,
    streamArn,
    async rows(key) {
      const items = await read(key);
      const ofRuns = items.filter(({ sk }) => String(sk).startsWith("run "));
      return {
        runs: ofRuns.map(({ sk }) => Number(String(sk).slice(4))),
        count: Number(items.find(({ sk }) => sk === "count")?.n ?? 0),
        senders: ofRuns.map(({ of }) => Number(of)),
      };
    },
    countOf: async (key) => (await read(key)).length,
    async addStock(product, pieces) {
      const update = new UpdateCommand({
        TableName: effects,
        Key: { pk: product, sk: "stock" },
        UpdateExpression: "ADD n :pieces",
        ExpressionAttributeValues: { ":pieces": pieces },
      });
      await patiently(() => client.send(update));
    },
    unsent: () =>
      patiently(async () => {
        let count = 0;
        for await (const page of paginateScan({ client }, { TableName: records, IndexName: OUTBOX_INDEX })) {
          count += page.Items?.length ?? 0;
        }
        return count;
      }),
    close: () => base.destroy(),
  };
}

/** An engine under load closes a connection now and then, and the campaign's own requests must not be lost by that. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await sleep(200 * tries);
    }
  }
}

async function createRecords(client: DynamoDBClient, TableName: string): Promise<string> {
  const { partitionKey, unsentShard, unsentSince } = ATTRIBUTES;
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: partitionKey, AttributeType: "S" },
        { AttributeName: unsentShard, AttributeType: "N" },
        { AttributeName: unsentSince, AttributeType: "N" },
      ],
      KeySchema: [{ AttributeName: partitionKey, KeyType: "HASH" }],
      GlobalSecondaryIndexes: [
        {
          IndexName: OUTBOX_INDEX,
          KeySchema: [
            { AttributeName: unsentShard, KeyType: "HASH" },
            { AttributeName: unsentSince, KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" },
    }),
  );
  return String(TableDescription?.LatestStreamArn);
}

async function createEffects(client: DynamoDBClient, TableName: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
    }),
  );
}
