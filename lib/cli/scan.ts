/** Records by a state that no index has: a scan of the whole table, with its cost before it. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { readRecord, recordTable } from "../dynamodb/record-table.ts";
import type { ListedLine } from "./listed.ts";
import type { OpenTable } from "./table.ts";

export const SCANNED = ["in-progress", "completed", "failed", "released", "held"] as const;
export type ScannedState = (typeof SCANNED)[number];

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html */
const UNIT_BYTES = 4096;

/** What the scan reads, as DynamoDB counted the table within the last six hours. */
export interface ScanCost {
  readonly items: number;
  readonly bytes: number;
  /** The reads may be stale, which halves their price. */
  readonly readUnits: number;
}

export async function scanCost({ storeOptions }: OpenTable): Promise<ScanCost> {
  const { DescribeTableCommand } = await import("@aws-sdk/client-dynamodb");
  const { Table } = await clientOf(storeOptions).send(
    new DescribeTableCommand({ TableName: `${storeOptions.tableName}` }),
  );
  const { ItemCount: items = 0, TableSizeBytes: bytes = 0 } = Table ?? {};
  return { items, bytes, readUnits: Math.ceil(bytes / UNIT_BYTES) / 2 };
}

/** The records in this state, in no order. What cannot be read is told as such. */
export async function* scanned({ storeOptions }: OpenTable, state: ScannedState): AsyncGenerator<ListedLine> {
  const { ScanCommand } = await import("@aws-sdk/client-dynamodb");
  const client = clientOf(storeOptions);
  const table = recordTable(storeOptions);
  const { TableName, names } = table;
  let ExclusiveStartKey: object | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName,
        FilterExpression: "#state = :state AND attribute_exists(#token)",
        ExpressionAttributeNames: { "#state": names.state, "#token": names.token },
        ExpressionAttributeValues: { ":state": { S: state } },
        ...(ExclusiveStartKey && { ExclusiveStartKey: ExclusiveStartKey as never }),
      }),
    );
    for (const item of page.Items ?? []) yield lineOf(table, item, state);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

function lineOf(
  table: ReturnType<typeof recordTable>,
  item: Parameters<typeof readRecord>[1] & object,
  state: ScannedState,
): ListedLine {
  const recordKey = `${item[table.names.partitionKey]?.S}`;
  try {
    const record = readRecord(table, item);
    const { createdAt = 0, completedAt = createdAt, attempt } = record ?? {};
    return { recordKey, state, since: completedAt, attempt, why: state };
  } catch {
    // Its message names an attribute of one record; the others are told all the same.
    return { recordKey, state: "unreadable", since: 0, why: "unreadable" };
  }
}

/** `openTable` has made it. */
const clientOf = ({ client }: OpenTable["storeOptions"]) => client as DynamoDBClient;
