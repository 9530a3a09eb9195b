/** Reads an item as a record. What has another shape than this code writes fails closed, and is never cast. */
import { RecordCorruptError } from "../core/errors.ts";
import { type IdempotencyRecord, STATES, type StoredResult } from "../core/record.ts";
import type { Attribute, RecordTable } from "./record-table.ts";
import { readText } from "./results.ts";
import { fromItem, type Item } from "./values.ts";

/**
 * `undefined` where there is no record: an engine may answer with an empty item.
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
export function readRecord({ names }: RecordTable, item: Item = {}): IdempotencyRecord | undefined {
  if (!item[names.partitionKey]) return undefined;
  const recordKey = `${item[names.partitionKey]?.S}`;
  const value = (name: Attribute) => item[names[name]];
  const refuse = (name: Attribute): never => {
    throw new RecordCorruptError(`attribute ${name} is missing, of another type or out of range`);
  };
  const text = (name: Attribute) => value(name)?.S ?? refuse(name);
  const number = (name: Attribute) => {
    const read = Number(value(name)?.N ?? refuse(name));
    // What loses digits as it is read never equals what is stored: no condition on it could hold.
    return Math.abs(read) <= Number.MAX_SAFE_INTEGER ? read : refuse(name);
  };
  const optional = <T>(name: Attribute, read: (name: Attribute) => T, field: string = name) =>
    value(name) && { [field]: read(name) };

  return {
    version: number("version"),
    state: STATES.find((state) => state === text("state")) ?? refuse("state"),
    token: text("token"),
    attempt: number("attempt"),
    leaseEndsAt: number("leaseEndsAt"),
    fingerprint: text("fingerprint"),
    createdAt: number("createdAt"),
    ...optional("completedAt", number),
    ...optional("expiresAt", number),
    ...optional("steps", (name) => fromItem(value(name)?.M ?? refuse(name))),
    ...optional("result", (name): StoredResult => ({ in: "record", text: readText(value(name)) })),
    ...optional(
      "resultItem",
      (name): StoredResult => ({ in: "item", address: ownResult(recordKey, text(name)) }),
      "result",
    ),
    ...optional("resultBytes", (name): StoredResult => ({ in: "nowhere", bytes: number(name) }), "result"),
  };
}

/**
 * The address of a result, which begins with the key of its record. Whoever may write one tenant's records could make
 * one point to another tenant's result, and who replays it may read both.
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
export function ownResult(recordKey: string, address: string): string {
  if (address.startsWith(`${recordKey}#`)) return address;
  throw new RecordCorruptError("the record points to the result of another one");
}
