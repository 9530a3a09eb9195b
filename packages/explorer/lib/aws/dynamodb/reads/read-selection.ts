/** Which part of each item a read returns: all attributes, some of them, or only the count. */
import { invalid } from "../dynamodb-error.ts";
import type { Placeholders } from "../expressions/placeholders.ts";
import { type Projection, parseProjection, project } from "../expressions/projection.ts";
import type { DocumentPath } from "../expressions/syntax.ts";
import { parseExpression } from "../expressions/token-stream.ts";
import type { SecondaryIndex } from "../tables/secondary-index.ts";
import type { Item } from "../values/attribute-value.ts";

export interface Selection {
  /** `undefined` for a read that only counts. */
  readonly select: ((item: Item) => Item) | undefined;
  readonly projection: Projection | undefined;
}

interface SelectionInput {
  readonly Select?: string | undefined;
  readonly ProjectionExpression?: string | undefined;
}

const SELECTS = ["ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES"];

export function readProjection(
  expression: string | undefined,
  placeholders: Placeholders,
): (item: Item) => Item {
  const projection = parseExpression("ProjectionExpression", expression, placeholders, parseProjection);
  return projection === undefined ? (item) => item : (item) => project(item, projection);
}

export function readSelection(input: SelectionInput, placeholders: Placeholders): Selection {
  const { Select, ProjectionExpression } = input;
  if (Select !== undefined && !SELECTS.includes(Select)) {
    throw invalid(
      `1 validation error detected: Value '${Select}' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [${SELECTS.join(", ")}]`,
    );
  }
  if (Select === "SPECIFIC_ATTRIBUTES" && ProjectionExpression === undefined) {
    throw invalid(
      "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
    );
  }
  if (Select !== undefined && Select !== "SPECIFIC_ATTRIBUTES" && ProjectionExpression !== undefined) {
    const what = Select === "COUNT" ? "only the Count" : Select;
    throw invalid(`Cannot specify the ProjectionExpression when choosing to get ${what}`);
  }
  const projection = parseExpression(
    "ProjectionExpression",
    ProjectionExpression,
    placeholders,
    parseProjection,
  );
  if (Select === "COUNT") return { select: undefined, projection };
  return { select: (item) => (projection === undefined ? item : project(item, projection)), projection };
}

/** A read of an index returns and filters only the attributes that are projected into the index. */
export function checkProjected(index: SecondaryIndex | undefined, paths: readonly DocumentPath[]): void {
  const missing = paths.find(([head]) => index?.projected?.every((name) => name !== head));
  if (missing === undefined) return;
  throw invalid(
    `One or more parameter values were invalid: Global secondary index ${index?.name} does not project [${missing[0]}]`,
  );
}

export function checkSelect(select: string | undefined, index: SecondaryIndex | undefined): void {
  if (select === "ALL_PROJECTED_ATTRIBUTES" && index === undefined) {
    throw invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  if (select === "ALL_ATTRIBUTES" && index?.projected !== undefined) {
    throw invalid(
      `One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ${index.name} because its projection type is not ALL`,
    );
  }
}
