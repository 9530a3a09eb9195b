/** Reads a sparse index that is divided into shards, oldest first. */
import type { QueryInput } from "@aws-sdk/client-dynamodb";
import type { Connection } from "./connection.ts";
import type { RecordTable } from "./record-table.ts";
import { explained, type Sent, type SparseIndex, send } from "./send.ts";
import { type Item, toItem } from "./values.ts";

export async function* queryIndex(
  connection: Connection,
  table: RecordTable,
  index: SparseIndex,
  shard: number,
  before: number,
  more: Partial<QueryInput> = {},
): AsyncGenerator<Sent<"Query">> {
  const { TableName, names } = table;
  let ExclusiveStartKey: Item | undefined;
  do {
    const input: QueryInput = {
      TableName,
      IndexName: index.name,
      KeyConditionExpression: `#${index.shard} = :shard AND #${index.since} < :before`,
      ExpressionAttributeNames: {
        [`#${index.shard}`]: names[index.shard],
        [`#${index.since}`]: names[index.since],
      },
      ExpressionAttributeValues: toItem({ ":shard": shard, ":before": before }),
      ...more,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    };
    const answer: Sent<"Query"> = await explained(table, index, send(connection, "Query", input));
    yield answer;
    ExclusiveStartKey = answer.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}
