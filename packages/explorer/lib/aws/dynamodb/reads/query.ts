/** Query. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html */
import { invalid } from "../dynamodb-error.ts";
import { keyConditionOf, parseKeyCondition } from "../expressions/key-condition.ts";
import { parseCondition } from "../expressions/parse-condition.ts";
import { pathsIn } from "../expressions/paths-in.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import type { Condition } from "../expressions/syntax.ts";
import { parseExpression } from "../expressions/token-stream.ts";
import type { DynamoDBHandler } from "../handler.ts";
import { type KeySchema, keyNames } from "../tables/key-schema.ts";
import { attributeOf } from "../values/attribute-value.ts";
import { areEqual } from "../values/compare-values.ts";
import { checkLimit, readPage } from "./read-page.ts";
import { checkProjected, checkSelect, readSelection } from "./read-selection.ts";
import { itemsIn, readSource, readStart } from "./read-source.ts";

export const query: DynamoDBHandler<"Query"> = (service, input) => {
  checkLimit(input.Limit);
  const placeholders = new Placeholders(input);
  const restrictions = parseExpression(
    "KeyConditionExpression",
    input.KeyConditionExpression,
    placeholders,
    parseKeyCondition,
  );
  const filter = parseExpression("FilterExpression", input.FilterExpression, placeholders, parseCondition);
  const { select, projection = [] } = readSelection(input, placeholders);
  placeholders.checkUse([input.KeyConditionExpression, input.FilterExpression, input.ProjectionExpression]);
  if (restrictions === undefined) {
    throw invalid(
      "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
    );
  }
  const source = readSource(service, input);
  checkSelect(input.Select, source.index);
  checkProjected(source.index, [...projection, ...pathsIn(filter)]);
  const { partition, isInRange } = keyConditionOf(restrictions, source.schema);
  checkFilter(filter, source.schema);
  const { name } = source.schema.partition;
  const start = readStart(input.ExclusiveStartKey, source);
  if (start && !(areEqual(attributeOf(start, name), partition) && isInRange(start))) {
    throw invalid("The provided starting key is outside query boundaries based on provided conditions");
  }
  const isConsistent = input.ConsistentRead ?? false;
  const items = itemsIn(service, source, isConsistent, { [name]: partition }).filter(
    (item) => areEqual(attributeOf(item, name), partition) && isInRange(item),
  );
  const isForward = input.ScanIndexForward ?? true;
  return readPage(items, {
    source,
    order: isForward ? source.queryOrder : (first, second) => source.queryOrder(second, first),
    start,
    limit: input.Limit,
    filter,
    select,
    isConsistent,
    capacityLevel: input.ReturnConsumedCapacity,
  });
};

function checkFilter(filter: Condition | undefined, schema: KeySchema): void {
  const names = keyNames(schema);
  const key = pathsIn(filter).find(([head]) => names.some((name) => name === head));
  if (key === undefined) return;
  throw invalid(
    `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key[0]}`,
  );
}
