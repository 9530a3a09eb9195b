/** PutItem, UpdateItem and DeleteItem. */
import { reportCapacity, tableWriteUnits, totalOf, type Units, writeUnits } from "../consumed-capacity.ts";
import { DynamoDBError, invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import { project } from "../expressions/projection.ts";
import type { Update } from "../expressions/syntax.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { SingleWriteOutput, WriteOptions } from "../item-operations.ts";
import type { Item } from "../values/attribute-value.ts";
import { commitWrite } from "./commit-write.ts";
import { type PreparedWrite, tryWrite } from "./prepared-write.ts";
import { readDelete, readPut, readUpdate } from "./write-inputs.ts";

interface Versions {
  readonly former: Item | undefined;
  readonly next: Item | undefined;
}

export const putItem: DynamoDBHandler<"PutItem"> = (service, input) => {
  checkReturnValues(input);
  return doWrite(service, input, readPut(input)(service), returnedWhole(input));
};

export const deleteItem: DynamoDBHandler<"DeleteItem"> = (service, input) => {
  checkReturnValues(input);
  return doWrite(service, input, readDelete(input)(service), returnedWhole(input));
};

export const updateItem: DynamoDBHandler<"UpdateItem"> = (service, input) => {
  const write = readUpdate(input)(service);
  const { ReturnValues } = input;
  const returned = ReturnValues?.startsWith("UPDATED_")
    ? returnedParts(ReturnValues, write.update)
    : returnedWhole(input);
  return doWrite(service, input, write, returned);
};

function doWrite(
  service: DynamoDBService,
  { ReturnConsumedCapacity }: WriteOptions,
  write: PreparedWrite,
  returned: (versions: Versions) => Item | undefined,
): SingleWriteOutput {
  const { units, ...versions } = chargedWrite(service, write);
  const Attributes = returned(versions);
  const ConsumedCapacity = reportCapacity(ReturnConsumedCapacity, write.table, units);
  return { ...(Attributes && { Attributes }), ...(ConsumedCapacity && { ConsumedCapacity }) };
}

/** Applies a write, and adds the units that it consumes to its table's. */
export function chargedWrite(
  service: DynamoDBService,
  write: PreparedWrite,
): Versions & { readonly units: Units } {
  const { table, key } = write;
  const former = table.items.get(key);
  const next = tryCharged(write, former);
  commitWrite(service, table, key, next);
  const units = writeUnits(table, former, next);
  table.units.write += totalOf(units);
  return { former, next, units };
}

/**
 * A write that is refused by its condition costs as much as a rewrite of the existing item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html#write-operation-consumption
 */
function tryCharged(write: PreparedWrite, former: Item | undefined): Item | undefined {
  try {
    return tryWrite(write);
  } catch (error) {
    if (error instanceof DynamoDBError && error.name === "ConditionalCheckFailedException") {
      write.table.units.write += tableWriteUnits(former, undefined);
    }
    throw error;
  }
}

function checkReturnValues({ ReturnValues = "NONE" }: WriteOptions): void {
  if (ReturnValues !== "NONE" && ReturnValues !== "ALL_OLD") {
    throw invalid("1 validation error detected: ReturnValues can only be ALL_OLD or NONE");
  }
}

function returnedWhole({ ReturnValues }: WriteOptions): (versions: Versions) => Item | undefined {
  if (ReturnValues === "ALL_OLD") return ({ former }) => former;
  if (ReturnValues === "ALL_NEW") return ({ next }) => next;
  return () => undefined;
}

/** The values at the paths of the update, and nothing around them. */
function returnedParts(ReturnValues: string, update: Update): (versions: Versions) => Item | undefined {
  const paths = update.map(({ path }) => path);
  return ({ former, next }) => {
    const item = ReturnValues === "UPDATED_OLD" ? former : next;
    const parts = item && project(item, paths);
    return parts !== undefined && Object.keys(parts).length > 0 ? parts : undefined;
  };
}
