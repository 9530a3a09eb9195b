/**
 * A page of a query or a scan: the items read, the items that pass the filter, and where the next page
 * begins.
 */
import { readUnits, reportCapacity, type Units } from "../consumed-capacity.ts";
import { invalid } from "../dynamodb-error.ts";
import { holds } from "../expressions/evaluate-condition.ts";
import type { Condition } from "../expressions/syntax.ts";
import type { PageOutput } from "../item-operations.ts";
import type { ReadingOrder } from "../tables/item-collection.ts";
import type { Item } from "../values/attribute-value.ts";
import { itemSize } from "../values/value-size.ts";
import { positionOf, type ReadSource } from "./read-source.ts";

export interface PageRequest {
  readonly source: ReadSource;
  readonly order: ReadingOrder;
  readonly start: Item | undefined;
  readonly limit: number | undefined;
  readonly filter: Condition | undefined;
  readonly select: ((item: Item) => Item) | undefined;
  readonly isConsistent: boolean;
  readonly capacityLevel: string | undefined;
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html */
const MAX_PAGE_BYTES = 1024 * 1024;

export function readPage(items: Item[], request: PageRequest): PageOutput {
  const { source, order, start, filter, select } = request;
  const ahead = start === undefined ? items : items.filter((item) => order(item, start) > 0);
  const { read, bytes, isCut } = cut(ahead.sort(order), request.limit);
  const found = read.filter((item) => filter === undefined || holds(filter, item));
  const last = isCut ? read.at(-1) : undefined;
  const units = unitsOf(source, readUnits(bytes, request.isConsistent));
  source.table.units.read += readUnits(bytes, request.isConsistent);
  const ConsumedCapacity = reportCapacity(request.capacityLevel, source.table, units);
  return {
    ...(select && { Items: found.map(select) }),
    Count: found.length,
    ScannedCount: read.length,
    ...(last && { LastEvaluatedKey: positionOf(last, source) }),
    ...(ConsumedCapacity && { ConsumedCapacity }),
  };
}

export function checkLimit(limit: number | undefined): void {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 1)) return;
  throw invalid(
    `1 validation error detected: Value '${limit}' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`,
  );
}

/** A page ends with the item that fills it, even if no item follows. */
function cut(items: readonly Item[], limit = Number.POSITIVE_INFINITY) {
  const read: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    read.push(item);
    bytes += itemSize(item);
    if (read.length === limit || bytes > MAX_PAGE_BYTES) return { read, bytes, isCut: true };
  }
  return { read, bytes, isCut: false };
}

function unitsOf({ index }: ReadSource, units: number): Units {
  return index === undefined ? { table: units, indexes: {} } : { table: 0, indexes: { [index.name]: units } };
}
