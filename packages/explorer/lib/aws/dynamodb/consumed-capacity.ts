/**
 * Computes what requests cost in capacity units.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */

import { keyText } from "./tables/key-values.ts";
import { indexEntry } from "./tables/secondary-index.ts";
import type { Table } from "./tables/table.ts";
import type { Item } from "./values/attribute-value.ts";
import { areEqualItems } from "./values/compare-values.ts";
import { itemSize } from "./values/value-size.ts";

export interface ConsumedCapacity {
  readonly TableName: string;
  readonly CapacityUnits: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly Table?: { readonly CapacityUnits: number };
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits: number }>>;
}

export interface Units {
  readonly table: number;
  readonly indexes: Readonly<Record<string, number>>;
}

const READ_UNIT_BYTES = 4096;
const WRITE_UNIT_BYTES = 1024;

/** One unit for each started 4 KB, and at least one; an eventually consistent read costs half. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES)) * (isConsistent ? 1 : 0.5);
}

/** One unit for each started KB of the larger version, and at least one. */
export function tableWriteUnits(former: Item | undefined, next: Item | undefined): number {
  return Math.max(1, kilobytes(Math.max(itemSize(former), itemSize(next))));
}

/** An index costs nothing when its entry stays the same, and twice when its entry moves. */
export function writeUnits(table: Table, former: Item | undefined, next: Item | undefined): Units {
  const indexes: Record<string, number> = {};
  for (const index of table.definition.indexes) {
    const [before, after] = [indexEntry(index, former), indexEntry(index, next)];
    if (areEqualItems(before, after)) continue;
    const moves = before && after && keyText(before, index.schema) !== keyText(after, index.schema);
    indexes[index.name] = moves
      ? kilobytes(itemSize(before)) + kilobytes(itemSize(after))
      : kilobytes(Math.max(itemSize(before), itemSize(after)));
  }
  return { table: tableWriteUnits(former, next), indexes };
}

export function addUnits(first: Units | undefined, second: Units): Units {
  if (first === undefined) return second;
  const indexes = { ...first.indexes };
  for (const [name, units] of Object.entries(second.indexes)) indexes[name] = (indexes[name] ?? 0) + units;
  return { table: first.table + second.table, indexes };
}

export function totalOf({ table, indexes }: Units): number {
  return Object.values(indexes).reduce((sum, units) => sum + units, table);
}

/** `undefined` when the request did not ask for it. */
export function reportCapacity(
  level: string | undefined,
  table: Table,
  units: Units,
): ConsumedCapacity | undefined {
  if (level !== "TOTAL" && level !== "INDEXES") return undefined;
  const indexes = Object.entries(units.indexes);
  return {
    TableName: table.name,
    CapacityUnits: totalOf(units),
    ...(level === "INDEXES" && { Table: { CapacityUnits: units.table } }),
    ...(level === "INDEXES" &&
      indexes.length > 0 && {
        GlobalSecondaryIndexes: Object.fromEntries(
          indexes.map(([name, CapacityUnits]) => [name, { CapacityUnits }]),
        ),
      }),
  };
}

/** The part of a batch's response that reports what each table consumed. */
export function reportBatch(
  level: string | undefined,
  units: ReadonlyMap<Table, Units>,
): { readonly ConsumedCapacity?: ConsumedCapacity[] } {
  const reports = [...units].flatMap(([table, each]) => reportCapacity(level, table, each) ?? []);
  return reports.length > 0 ? { ConsumedCapacity: reports } : {};
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / WRITE_UNIT_BYTES);
}

/** A transaction's response also separates read units from write units. */
export function reportTransaction(
  level: string | undefined,
  units: ReadonlyMap<Table, Units>,
  kind: "Read" | "Write",
): readonly ConsumedCapacity[] | undefined {
  const { ConsumedCapacity } = reportBatch(level, units);
  return ConsumedCapacity?.map((report) => ({ ...report, [`${kind}CapacityUnits`]: report.CapacityUnits }));
}
