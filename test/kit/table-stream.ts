// Reads the change stream of a table from its beginning, record after record, as an event source mapping does.
import { randomUUID } from "node:crypto";
import { DescribeTableCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { Item } from "../../lib/dynamodb/values.ts";
import type { StreamRecord } from "../../packages/explorer/lib/aws/event-sources/stream-record.ts";
import { streamClient } from "../../packages/local/lib/event-sources/stream-client.ts";

/** As a Lambda function gets it. */
export interface Change extends StreamRecord {
  readonly dynamodb: StreamRecord["dynamodb"] & { readonly Keys: Item; readonly NewImage?: Item };
}

const LIMIT = 1000;

/** `key` makes the key of an item of this table; fences are written under it. */
export async function readStream(
  client: DynamoDBClient,
  endpoint: string,
  tableName: string,
  key: (pk: string) => object = (pk) => ({ pk }),
) {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const stream = streamClient(endpoint, String(Table?.LatestStreamArn), new AbortController().signal);
  const iterators = new Map<string, string | undefined>();

  async function readOnce(): Promise<Change[]> {
    const read: Change[] = [];
    for (const { ShardId } of await stream.shards()) {
      if (!iterators.has(ShardId)) {
        iterators.set(ShardId, await stream.iterator(ShardId, { ShardIteratorType: "TRIM_HORIZON" }));
      }
      const iterator = iterators.get(ShardId);
      if (iterator === undefined) continue;
      const { records, next } = await stream.records(iterator, LIMIT);
      iterators.set(ShardId, next);
      read.push(...(records as Change[]));
    }
    return read;
  }

  /** All changes that no one has read yet: a fence after them shows when all have arrived. */
  return async function nextChanges(): Promise<Change[]> {
    const fence = `fence ${randomUUID()}`;
    await client.send(new PutItemCommand({ TableName: tableName, Item: marshall(key(fence)) }));
    const changes: Change[] = [];
    while (!changes.some((change) => isOf(change, fence))) changes.push(...(await readOnce()));
    return changes.filter((change) => !isOf(change, "fence "));
  };
}

function isOf({ dynamodb }: Change, prefix: string): boolean {
  return Object.values(dynamodb.Keys).some(({ S }) => S?.startsWith(prefix));
}
