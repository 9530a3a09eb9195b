/** Scan. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html */
import { invalid } from "../dynamodb-error.ts";
import { parseCondition } from "../expressions/parse-condition.ts";
import { pathsIn } from "../expressions/paths-in.ts";
import { Placeholders } from "../expressions/placeholders.ts";
import { parseExpression } from "../expressions/token-stream.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { ScanInput } from "../item-operations.ts";
import { partitionPlace } from "../tables/item-collection.ts";
import { checkLimit, readPage } from "./read-page.ts";
import { checkProjected, checkSelect, readSelection } from "./read-selection.ts";
import { itemsIn, readSource, readStart } from "./read-source.ts";

const MAX_SEGMENTS = 1_000_000;

export const scan: DynamoDBHandler<"Scan"> = (service, input) => {
  checkLimit(input.Limit);
  checkSegment(input);
  const placeholders = new Placeholders(input);
  const filter = parseExpression("FilterExpression", input.FilterExpression, placeholders, parseCondition);
  const { select, projection = [] } = readSelection(input, placeholders);
  placeholders.checkUse([input.FilterExpression, input.ProjectionExpression]);
  const source = readSource(service, input);
  checkSelect(input.Select, source.index);
  checkProjected(source.index, [...projection, ...pathsIn(filter)]);
  const isConsistent = input.ConsistentRead ?? false;
  const { Segment = 0, TotalSegments = 1 } = input;
  const items = itemsIn(service, source, isConsistent).filter(
    (item) => Math.floor(partitionPlace(item, source.schema) * TotalSegments) === Segment,
  );
  return readPage(items, {
    source,
    order: source.scanOrder,
    start: readStart(input.ExclusiveStartKey, source),
    limit: input.Limit,
    filter,
    select,
    isConsistent,
    capacityLevel: input.ReturnConsumedCapacity,
  });
};

function checkSegment({ Segment, TotalSegments }: ScanInput): void {
  if (Segment === undefined && TotalSegments === undefined) return;
  if (Segment === undefined || TotalSegments === undefined) {
    const [present, absent] =
      Segment === undefined ? ["TotalSegments", "Segment"] : ["Segment", "TotalSegments"];
    throw invalid(
      `The ${absent} parameter is required but was not present in the request when parameter ${present} is present`,
    );
  }
  if (TotalSegments < 1 || TotalSegments > MAX_SEGMENTS || Segment < 0) {
    throw invalid(`1 validation error detected: TotalSegments must be between 1 and ${MAX_SEGMENTS}`);
  }
  if (Segment >= TotalSegments) {
    throw invalid(
      `The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: ${Segment} is not less than TotalSegments: ${TotalSegments}`,
    );
  }
}
