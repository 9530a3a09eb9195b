/** Records by a scan: a state that no index has, or one page of a local table. Results, steps and messages are not read. */
import type { AttributeValue, DynamoDBClient, ScanCommandInput } from "@aws-sdk/client-dynamodb";
import {
  type Attribute,
  type IdempotencyRecord,
  isLease,
  namesOf,
  type RecordTable,
  readRecord,
  recordTable,
} from "onceonly/kit";
import { type CommandCall, UsageError } from "./command.ts";
import type { ListedLine } from "./listed.ts";
import type { OpenTable } from "./open-table.ts";

export const SCANNED = ["in-progress", "completed", "failed", "released", "held"] as const;
export type ScannedState = (typeof SCANNED)[number];

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html */
const UNIT_BYTES = 4096;

/** What the scan reads, as DynamoDB counted the table within the last six hours. */
interface ScanCost {
  readonly items: number;
  readonly bytes: number;
  /** The reads may be stale, which halves their price. */
  readonly readUnits: number;
}

async function scanCost({ storeOptions }: OpenTable): Promise<ScanCost> {
  const { DescribeTableCommand } = await import("@aws-sdk/client-dynamodb");
  const { Table } = await clientOf(storeOptions).send(
    new DescribeTableCommand({ TableName: `${storeOptions.tableName}` }),
  );
  const { ItemCount: items = 0, TableSizeBytes: bytes = 0 } = Table ?? {};
  return { items, bytes, readUnits: Math.ceil(bytes / UNIT_BYTES) / 2 };
}

/** What a scan costs, in words. */
export async function scanCostLine(table: OpenTable): Promise<string> {
  const { items, bytes, readUnits } = await scanCost(table);
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `a scan reads the whole table: about ${items} items, ${size}, ${readUnits} read units, as DynamoDB counted in the last six hours`;
}

/** Shows what a scan costs, and asks. @throws UsageError without a terminal to ask on */
export async function mayScan(
  table: OpenTable,
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
): Promise<boolean> {
  const cost = await scanCostLine(table);
  if (values.yes) {
    if (!values.json) terminal.print(cost);
    return true;
  }
  const isMeant = await terminal.confirm(`${cost}. Scan it?`);
  if (isMeant === undefined)
    throw new UsageError(`${cost}; not a terminal, so I can't ask for confirmation: pass --yes`);
  if (!isMeant) terminal.print("nothing was read");
  return isMeant;
}

/** Called with the number of items that were read so far. */
type OnRead = ((items: number) => void) | undefined;

/** The records in this state, in no order. A record that can't be read is reported as such. */
export async function* scanned(
  table: OpenTable,
  state: ScannedState,
  onRead?: OnRead,
): AsyncGenerator<ListedLine> {
  let from: Item | undefined;
  let read = 0;
  do {
    const page = await scanPage(table, { state, from });
    read += page.read;
    onRead?.(read);
    for (const { recordKey, record } of page.records) {
      if (record) {
        const { createdAt, completedAt: since = createdAt, attempt } = record;
        yield { recordKey, state, since, attempt, why: state };
      } else yield { recordKey, state: "unreadable", since: 0, why: "unreadable" };
    }
    from = page.next;
  } while (from);
}

export interface ScannedRecord {
  readonly recordKey: string;
  /** `undefined` where it cannot be read. */
  readonly record: IdempotencyRecord | undefined;
  /** Epoch ms. */
  readonly unsettledSince: number | undefined;
}

export interface ScanQuestion {
  /** @default - any */
  readonly state?: ScannedState;
  /** @default false */
  readonly consistent?: boolean;
  /** The name of a sort key to read with each record. */
  readonly sortKey?: string | undefined;
  readonly from?: Item | undefined;
}

type Item = Record<string, AttributeValue>;

const READ = [
  "partitionKey",
  "version",
  "state",
  "token",
  "attempt",
  "leaseEndsAt",
  "fingerprint",
  "createdAt",
  "completedAt",
  "unsettledSince",
] as const satisfies readonly Attribute[];

export async function scanPage(
  { storeOptions }: OpenTable,
  { state, consistent = false, sortKey, from }: ScanQuestion,
) {
  const { ScanCommand } = await import("@aws-sdk/client-dynamodb");
  const table = recordTable(storeOptions);
  const names: Record<string, string> = Object.fromEntries(
    READ.map((name) => [`#${name}`, table.names[name]]),
  );
  if (sortKey !== undefined) names["#sortKey"] = sortKey;
  const {
    Items = [],
    LastEvaluatedKey,
    ScannedCount: read = 0,
  } = await clientOf(storeOptions).send(
    new ScanCommand({
      TableName: table.TableName,
      ConsistentRead: consistent,
      // A table may hold items that aren't our records: they have no token, or no valid state and fingerprint.
      FilterExpression: `attribute_exists(#token) AND ${state ? "#state = :state" : "attribute_exists(#fingerprint)"}`,
      ProjectionExpression: Object.keys(names).join(),
      ExpressionAttributeNames: names,
      ...(state && { ExpressionAttributeValues: { ":state": { S: state } } }),
      ...(from && { ExclusiveStartKey: from }),
    }),
  );
  return {
    records: Items.map((item) => scannedRecord(table, item)).filter(({ recordKey }) => !isLease(recordKey)),
    sortValue: sortKey === undefined ? undefined : Items[0]?.[sortKey]?.S,
    next: LastEvaluatedKey,
    /** The number of items that DynamoDB read for this page, matching or not. */
    read,
  };
}

function scannedRecord(table: RecordTable, item: Item): ScannedRecord {
  const unsettledSince = item[table.names.unsettledSince]?.N;
  return {
    recordKey: `${item[table.names.partitionKey]?.S}`,
    record: readable(table, item),
    unsettledSince: unsettledSince === undefined ? undefined : Number(unsettledSince),
  };
}

/** The error names an attribute of one record; the others are still listed. */
function readable(table: RecordTable, item: Item): IdempotencyRecord | undefined {
  try {
    return readRecord(table, item);
  } catch {
    return undefined;
  }
}

/** A scope's key, and the separate result items that start with it, including those that no record names. */
export interface ScopedKey {
  readonly recordKey: string;
  readonly addresses: readonly string[];
}

/** The address of a result in a separate item: its record's key and a hash. */
const APART = /^([^#]*#[^#]*#[\w-]{43})#[\w-]{43}$/;

/** The keys of a scope, of one operation or of all. Other items that the table may hold are passed over. */
export async function scopedKeys(
  { storeOptions }: OpenTable,
  { operation, scope }: { readonly operation?: string | undefined; readonly scope: string },
  onRead?: OnRead,
): Promise<readonly ScopedKey[]> {
  const { names } = recordTable(storeOptions);
  const items = itemsOf(storeOptions, onRead, {
    FilterExpression:
      "attribute_exists(#token) OR (attribute_exists(#result) AND attribute_not_exists(#state))",
    ProjectionExpression: "#pk, #token",
    ExpressionAttributeNames: {
      "#pk": names.partitionKey,
      "#token": names.token,
      "#state": names.state,
      "#result": names.result,
    },
  });
  const found = new Map<string, string[]>();
  for await (const item of items) {
    const address = `${item[names.partitionKey]?.S}`;
    const recordKey = item[names.token] ? address : APART.exec(address)?.[1];
    const of = namesOf(recordKey ?? "");
    if (!recordKey || of.scope !== scope || of.operation === "") continue;
    if (operation !== undefined && of.operation !== operation) continue;
    const addresses = found.get(recordKey) ?? [];
    found.set(recordKey, recordKey === address ? addresses : [...addresses, address]);
  }
  return [...found].map(([recordKey, addresses]) => ({ recordKey, addresses }));
}

async function* itemsOf(
  storeOptions: OpenTable["storeOptions"],
  onRead: OnRead,
  input: Omit<ScanCommandInput, "TableName">,
): AsyncGenerator<Record<string, AttributeValue>> {
  const { ScanCommand } = await import("@aws-sdk/client-dynamodb");
  const client = clientOf(storeOptions);
  const { TableName } = recordTable(storeOptions);
  let ExclusiveStartKey: ScanCommandInput["ExclusiveStartKey"];
  let read = 0;
  do {
    const page = await client.send(new ScanCommand({ ...input, TableName, ExclusiveStartKey }));
    read += page.ScannedCount ?? 0;
    onRead?.(read);
    yield* page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

/** `openTable` has made it. */
const clientOf = ({ client }: OpenTable["storeOptions"]) => client as DynamoDBClient;
