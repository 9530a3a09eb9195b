/** What a local table is like: its keys, and its indexes. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "onceonly/kit";
import { LISTS, type ListName } from "../listed.ts";

/** How the records of a table are keyed, and which lists its sparse indexes make. */
export interface TableShape {
  readonly partitionKey: string;
  readonly sortKey: string | undefined;
  readonly lists: readonly ListName[];
}

export async function shapeOf(client: DynamoDBClient, TableName: string): Promise<TableShape> {
  const { DescribeTableCommand } = await import("@aws-sdk/client-dynamodb");
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName) ?? [];
  const keyOf = (type: string) => Table?.KeySchema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return {
    partitionKey: keyOf("HASH") ?? ATTRIBUTES.partitionKey,
    sortKey: keyOf("RANGE"),
    lists: LISTS.filter((list) => indexes.includes(list === "unknown" ? UNSETTLED_INDEX : OUTBOX_INDEX)),
  };
}
