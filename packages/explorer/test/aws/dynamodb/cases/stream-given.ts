import { N, newTable, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

export interface Shard {
  readonly StreamArn: string;
  readonly ShardId: string;
}

export async function streamed(subject: DynamoDBSubject, viewType = "NEW_AND_OLD_IMAGES") {
  const TableName = await newTable(subject, { viewType });
  const { Table } = await subject.call("DescribeTable", { TableName });
  const StreamArn = String(Table.LatestStreamArn);
  const { StreamDescription } = await subject.call("DescribeStream", { StreamArn });
  const [shard] = StreamDescription.Shards as readonly { readonly ShardId: string }[];
  return { TableName, shard: { StreamArn, ShardId: String(shard?.ShardId) } };
}

export async function read(subject: DynamoDBSubject, shard: Shard, position: object, Limit?: number) {
  const { ShardIterator } = await subject.call("GetShardIterator", {
    ...shard,
    ...(position as { readonly ShardIteratorType: string }),
  });
  return subject.call("GetRecords", { ShardIterator, ...(Limit && { Limit }) });
}

export const FROM_THE_START = { ShardIteratorType: "TRIM_HORIZON" };

/** Writes an item, changes it and deletes it. */
export async function writeChangeDelete(subject: DynamoDBSubject, TableName: string): Promise<void> {
  const Key = { pk: S("a") };
  await subject.call("PutItem", { TableName, Item: { ...Key, n: N(1) } });
  await subject.call("UpdateItem", {
    TableName,
    Key,
    UpdateExpression: "SET n = :v",
    ExpressionAttributeValues: { ":v": N(2) },
  });
  await subject.call("DeleteItem", { TableName, Key });
}
