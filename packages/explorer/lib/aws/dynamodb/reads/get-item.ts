/** GetItem. */
import { readUnits, reportCapacity } from "../consumed-capacity.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import type { DynamoDBHandler } from "../handler.ts";
import { readKey } from "../tables/key-values.ts";
import { itemSize } from "../values/value-size.ts";
import { readProjection } from "./read-selection.ts";
import { visibleItem } from "./visible-items.ts";

export const getItem: DynamoDBHandler<"GetItem"> = (service, input) => {
  const placeholders = new Placeholders(input);
  const select = readProjection(input.ProjectionExpression, placeholders);
  placeholders.checkUse([input.ProjectionExpression]);
  const table = service.table(input.TableName);
  const isConsistent = input.ConsistentRead ?? false;
  const item = visibleItem(service, table, readKey(input.Key, table.schema), isConsistent);
  const units = readUnits(itemSize(item), isConsistent);
  table.units.read += units;
  const ConsumedCapacity = reportCapacity(input.ReturnConsumedCapacity, table, { table: units, indexes: {} });
  return { ...(item && { Item: select(item) }), ...(ConsumedCapacity && { ConsumedCapacity }) };
};
