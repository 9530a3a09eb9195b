/** All records of a table of a local engine, by a scan: there it costs nothing. Results and messages are not read. */
import type { AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../../contract.ts";
import { namesOf } from "../../core/identity.ts";
import { STATES } from "../../core/record.ts";
import type { RecordRow } from "./look.ts";

/** How the records of a table are keyed, and whether it has both sparse indexes. */
export interface TableShape {
  readonly partitionKey: string;
  readonly sortKey: string | undefined;
  readonly hasIndexes: boolean;
}

type Item = Readonly<Record<string, AttributeValue>>;

const READ = [
  "state",
  "attempt",
  "leaseEndsAt",
  "createdAt",
  "completedAt",
  "unsettledSince",
  "expiresAt",
] as const;

export async function shapeOf(client: DynamoDBClient, TableName: string): Promise<TableShape> {
  const { DescribeTableCommand } = await import("@aws-sdk/client-dynamodb");
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName) ?? [];
  const keyOf = (type: string) => Table?.KeySchema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return {
    partitionKey: keyOf("HASH") ?? ATTRIBUTES.partitionKey,
    sortKey: keyOf("RANGE"),
    hasIndexes: indexes.includes(OUTBOX_INDEX) && indexes.includes(UNSETTLED_INDEX),
  };
}

/** One page. `sortValue`: what records have as their sort key. */
export async function scanRecords(
  client: DynamoDBClient,
  table: string,
  { partitionKey, sortKey }: TableShape,
  now: number,
) {
  const { ScanCommand } = await import("@aws-sdk/client-dynamodb");
  const names = { "#key": partitionKey, ...(sortKey !== undefined && { "#sort": sortKey }) };
  const attributes = Object.fromEntries(READ.map((name) => [`#${name}`, ATTRIBUTES[name]]));
  const { Items = [], LastEvaluatedKey } = await client.send(
    new ScanCommand({
      TableName: table,
      ConsistentRead: true,
      // What has all of these is a record of ours.
      FilterExpression: "attribute_exists(#fingerprint) AND attribute_exists(#token)",
      ProjectionExpression: [...Object.keys(names), ...Object.keys(attributes)].join(),
      ExpressionAttributeNames: {
        ...names,
        ...attributes,
        "#fingerprint": ATTRIBUTES.fingerprint,
        "#token": ATTRIBUTES.token,
      },
    }),
  );
  const keys = Items.map((item) => `${item[partitionKey]?.S}`);
  return {
    keys,
    rows: Items.map((item, place) => rowOf(table, keys[place]!, item, now)),
    sortValue: sortKey === undefined ? undefined : Items[0]?.[sortKey]?.S,
    hasMore: LastEvaluatedKey !== undefined,
  };
}

function rowOf(table: string, recordKey: string, item: Item, now: number): RecordRow {
  const number = (name: (typeof READ)[number]) => Number(item[ATTRIBUTES[name]]?.N ?? Number.NaN);
  const stored = STATES.find((state) => state === item[ATTRIBUTES.state]?.S) ?? "unreadable";
  const isOver = stored === "in-progress" && number("leaseEndsAt") < now;
  const times = { completed: "completedAt", failed: "completedAt", held: "unsettledSince" } as const;
  const since = number(stored in times ? times[stored as keyof typeof times] : "leaseEndsAt");
  return {
    table,
    ...namesOf(recordKey),
    state: isOver ? "abandoned" : stored,
    attempt: number("attempt") || 0,
    createdAt: number("createdAt") || 0,
    since: since || 0,
  };
}
