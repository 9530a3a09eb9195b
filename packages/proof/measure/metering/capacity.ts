// What DynamoDB charges for one request, in write and read units. Pure, and none of the package's code: it is
// used to measure the package.
import type { AttributeValue, ConsumedCapacity } from "@aws-sdk/client-dynamodb";

export type Item = Record<string, AttributeValue>;

interface Units {
  readonly write: number;
  readonly read: number;
}

const READS = ["GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"];

/** From the capacity that the engine reports with its answer. */
export function reportedUnits(
  operation: string,
  consumed: ConsumedCapacity | readonly ConsumedCapacity[] | undefined,
): Units {
  const parts = consumed === undefined ? [] : [consumed].flat();
  const units = parts.reduce((sum, part) => sum + (part.CapacityUnits ?? 0), 0);
  return READS.includes(operation) ? { write: 0, read: units } : { write: units, read: 0 };
}

/**
 * DynamoDB Local reports nothing for statements that write. Each is charged as the write that it represents. An
 * insertion is charged by the size of its item. The update of a record, which stays within 1 KB here, is charged as
 * one unit. A refused statement is charged as below.
 */
export function statementUnits(
  statements: readonly {
    readonly Statement?: string | undefined;
    readonly Parameters?: AttributeValue[] | undefined;
  }[],
  responses: readonly { readonly Error?: { readonly Item?: Item | undefined } | undefined }[],
): number {
  return statements.reduce((sum, { Statement, Parameters = [] }, index) => {
    const refusal = responses[index]?.Error;
    const isInsertion = Statement?.startsWith("INSERT") === true && !refusal;
    return (
      sum +
      refusedWriteUnits(isInsertion ? Object.fromEntries(Object.entries(Parameters)) : (refusal?.Item ?? {}))
    );
  }, 0);
}

/** DynamoDB Local counts the tables of a transaction, and not its items: two units for each of those, of up to 1 KB. */
export function transactedItemUnits(items: readonly unknown[]): number {
  return 2 * items.length;
}

/**
 * No engine reports capacity with a refusal. A conditional write that is refused is charged for the size of the
 * item that is there (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html).
 */
export function refusedWriteUnits(existing: Item): number {
  return Math.max(1, Math.ceil(itemBytes(existing) / 1024));
}

/**
 * What a canceled transaction is charged is not documented in figures. It is counted like a transaction that was
 * applied to items of 1 KB each, or of the size of the items that refused it.
 */
export function refusedTransactionUnits(reasons: readonly { readonly Item?: Item }[]): number {
  return reasons.reduce((sum, { Item = {} }) => sum + 2 * refusedWriteUnits(Item), 0);
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
function itemBytes(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + textBytes(name) + valueBytes(value), 0);
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return textBytes(value.S);
  if (value.N !== undefined) return Math.ceil(value.N.replace(/\D/g, "").length / 2) + 1;
  if (value.B !== undefined) return value.B.byteLength;
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M);
  if (value.L !== undefined) return value.L.reduce((sum, element) => sum + 1 + valueBytes(element), 3);
  return 1;
}

function textBytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
