/** Lists a table's held and abandoned records. */
import { UNSETTLED_INDEX, UNSETTLED_SHARDS } from "../contract.ts";
import { hasCode } from "../core/error-code.ts";
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";
import type { Connection } from "./connection.ts";
import { type RecordTable, readRecord } from "./record-table.ts";
import { send } from "./send.ts";
import { queryIndex } from "./sparse-index.ts";
import type { Item } from "./values.ts";

const INDEX = { name: UNSETTLED_INDEX, shard: "unsettledShard", since: "unsettledSince" } as const;

/** How many records are read at once. */
const PAGE = 25;

/** The index may lag, and renewals don't update it: the record itself decides. */
export async function* listUnknownOutcomes(
  connection: Connection,
  table: RecordTable,
  before: number,
): AsyncGenerator<UnknownOutcome> {
  const { TableName, names, keyOf } = table;
  const read = async (found: Item): Promise<UnknownOutcome | undefined> => {
    const recordKey = `${found[names.partitionKey]?.S}`;
    const input = { TableName, Key: keyOf(recordKey), ConsistentRead: true };
    const { Item } = await send(connection, "GetItem", input);
    const since = Number((Item ?? found)[names.unsettledSince]?.N);
    try {
      const record = readRecord(table, Item);
      return record && unknownOutcomeOf(recordKey, record, since, before);
    } catch (error) {
      if (!hasCode(error, "RECORD_CORRUPT")) throw error;
      // One damaged record must not hide the others.
      return { recordKey, state: "unreadable", since };
    }
  };
  const pagesOf = (_: unknown, shard: number) =>
    queryIndex(connection, table, INDEX, shard, before, { Limit: PAGE });
  const shards = Array.from({ length: UNSETTLED_SHARDS }, pagesOf);
  // One page of each shard in turn: a caller that stops early has seen the oldest of each shard.
  for (const pages of shards) {
    const { value, done } = await pages.next();
    if (done) continue;
    shards.push(pages);
    for (const outcome of await Promise.all((value.Items ?? []).map(read))) if (outcome) yield outcome;
  }
}
