/**
 * BatchGetItem: up to 100 items and 16 MB; the other keys are returned as unprocessed.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
 */
import { addUnits, readUnits, reportBatch, type Units } from "../consumed-capacity.ts";
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { KeysAndAttributes } from "../item-operations.ts";
import { readKey } from "../tables/key-values.ts";
import type { Table } from "../tables/table.ts";
import type { Item } from "../values/attribute-value.ts";
import { itemSize } from "../values/value-size.ts";
import { readProjection } from "./read-selection.ts";
import { visibleItem } from "./visible-items.ts";

interface TableRequest {
  readonly name: string;
  readonly table: Table;
  readonly request: KeysAndAttributes;
  readonly keys: readonly Item[];
  readonly select: (item: Item) => Item;
}

const MAX_KEYS = 100;
const MAX_BYTES = 16 * 1024 * 1024;

export const batchGetItem: DynamoDBHandler<"BatchGetItem"> = (service, input) => {
  const requests = readRequests(service, input.RequestItems);
  const Responses: Record<string, Item[]> = {};
  const UnprocessedKeys: Record<string, KeysAndAttributes> = {};
  const units = new Map<Table, Units>();
  let bytes = 0;
  for (const { name, table, request, keys, select } of requests) {
    const isConsistent = request.ConsistentRead ?? false;
    const found: Item[] = [];
    for (const [index, key] of keys.entries()) {
      const item = visibleItem(service, table, key, isConsistent);
      bytes += itemSize(item);
      if (bytes > MAX_BYTES) {
        UnprocessedKeys[name] = { ...request, Keys: keys.slice(index) };
        break;
      }
      const read = readUnits(itemSize(item), isConsistent);
      table.units.read += read;
      units.set(table, addUnits(units.get(table), { table: read, indexes: {} }));
      if (item !== undefined) found.push(select(item));
    }
    Responses[name] = found;
  }
  return { Responses, UnprocessedKeys, ...reportBatch(input.ReturnConsumedCapacity, units) };
};

function readRequests(
  service: DynamoDBService,
  requestItems: Readonly<Record<string, KeysAndAttributes>> | undefined,
): readonly TableRequest[] {
  const entries = Object.entries(requestItems ?? {});
  if (entries.length === 0) throw invalid("The requestItems parameter is required for BatchGetItem");
  for (const [name, { Keys }] of entries) {
    if (!Array.isArray(Keys) || Keys.length === 0) {
      throw invalid(`The list of keys in RequestItems for BatchGetItem is required: ${name} has none`);
    }
  }
  if (entries.reduce((count, [, { Keys }]) => count + Keys.length, 0) > MAX_KEYS) {
    throw invalid("Too many items requested for the BatchGetItem call");
  }
  return entries.map(([name, request]) => readRequest(service, name, request));
}

function readRequest(service: DynamoDBService, name: string, request: KeysAndAttributes): TableRequest {
  const placeholders = new Placeholders(request);
  const select = readProjection(request.ProjectionExpression, placeholders);
  placeholders.checkUse([request.ProjectionExpression]);
  const table = service.table(name);
  const keys = request.Keys.map((key) => readKey(key, table.schema));
  if (new Set(keys.map((key) => table.keyText(key))).size < keys.length) {
    throw invalid("Provided list of item keys contains duplicates");
  }
  return { name, table, request, keys, select };
}
