/** TransactGetItems: up to 100 items as they are at one moment. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html */
import { addUnits, readUnits, reportTransaction, type Units } from "../consumed-capacity.ts";
import { invalid, SchemaMismatchError, transactionCanceled } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { TransactGetItem } from "../item-operations.ts";
import { readKey } from "../tables/key-values.ts";
import type { Table } from "../tables/table.ts";
import type { Item } from "../values/attribute-value.ts";
import { itemSize } from "../values/value-size.ts";
import { readProjection } from "./read-selection.ts";

interface Get {
  readonly table: Table;
  readonly key: Item;
  readonly select: (item: Item) => Item;
}

const MAX_GETS = 100;

export const transactGetItems: DynamoDBHandler<"TransactGetItems"> = (service, input) => {
  const { TransactItems, ReturnConsumedCapacity } = input;
  if (!Array.isArray(TransactItems) || TransactItems.length < 1 || TransactItems.length > MAX_GETS) {
    throw invalid(
      `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1 and less than or equal to ${MAX_GETS}`,
    );
  }
  const gets = readGets(service, TransactItems);
  const units = new Map<Table, Units>();
  const Responses = gets.map(({ table, key, select }) => {
    const item = table.items.get(key);
    const read = 2 * readUnits(itemSize(item), true);
    table.units.read += read;
    units.set(table, addUnits(units.get(table), { table: read, indexes: {} }));
    const selected = item && select(item);
    return selected && Object.keys(selected).length > 0 ? { Item: selected } : {};
  });
  const ConsumedCapacity = reportTransaction(ReturnConsumedCapacity, units, "Read");
  return { Responses, ...(ConsumedCapacity && { ConsumedCapacity }) };
};

function readGets(service: DynamoDBService, items: readonly TransactGetItem[]): readonly Get[] {
  const binds = items.map(readGet);
  const gets = binds.map((bind, index) => {
    try {
      return bind(service);
    } catch (error) {
      if (!(error instanceof SchemaMismatchError)) throw error;
      const reason = { Code: "ValidationError", Message: error.message };
      throw transactionCanceled(binds.map((_, each) => (each === index ? reason : { Code: "None" })));
    }
  });
  if (new Set(gets.map(({ table, key }) => `${table.name} ${table.keyText(key)}`)).size < gets.length) {
    throw invalid("Transaction request cannot include multiple operations on one item");
  }
  return gets;
}

function readGet({ Get }: TransactGetItem): (service: DynamoDBService) => Get {
  if (Get === undefined || Get === null) {
    throw invalid(
      "1 validation error detected: Value null at 'transactItems.member.get' failed to satisfy constraint: Member must not be null",
    );
  }
  const placeholders = new Placeholders(Get);
  const select = readProjection(Get.ProjectionExpression, placeholders);
  placeholders.checkUse([Get.ProjectionExpression]);
  return (service) => {
    const table = service.table(Get.TableName);
    return { table, key: readKey(Get.Key, table.schema), select };
  };
}
