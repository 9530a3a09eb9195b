/** Rejects what DynamoDB rejects in an expression before it looks at any item. */
import { ATTRIBUTE_TYPES, type AttributeType, typeOf } from "../values/attribute-value.ts";
import { compareScalars } from "../values/compare-values.ts";
import type { Comparator, ConditionFunction, Operand } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

const SCALARS: readonly AttributeType[] = ["S", "N", "B"];
const WITH_SIZE: readonly AttributeType[] = ["S", "B", "SS", "NS", "BS", "L", "M"];

const OPERAND_COUNTS: Readonly<Record<ConditionFunction, number>> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
};

export function checkComparison(
  stream: TokenStream,
  comparator: Comparator,
  left: Operand,
  right: Operand,
): void {
  checkDistinct(stream, comparator, [left, right]);
  if (comparator === "=" || comparator === "<>") return;
  for (const operand of [left, right]) checkType(stream, comparator, operand, SCALARS);
}

export function checkBetween(stream: TokenStream, operand: Operand, lower: Operand, upper: Operand): void {
  checkDistinct(stream, "BETWEEN", [operand, lower, upper]);
  for (const each of [operand, lower, upper]) checkType(stream, "BETWEEN", each, SCALARS);
  if (lower.kind !== "value" || upper.kind !== "value") return;
  const order = compareScalars(lower.value, upper.value);
  if (order === undefined) {
    throw stream.error("The BETWEEN operator requires same data type for lower and upper bounds;");
  }
  if (order > 0) {
    throw stream.error(
      "The BETWEEN operator requires upper bound to be greater than or equal to lower bound;",
    );
  }
}

export function checkIn(stream: TokenStream, operand: Operand, options: readonly Operand[]): void {
  checkDistinct(stream, "IN", [operand, ...options]);
}

/** The one operand of `size`. */
export function checkSize(stream: TokenStream, operands: readonly Operand[]): Operand {
  checkCount(stream, "size", operands, 1);
  const [operand] = operands as readonly [Operand];
  checkType(stream, "size", operand, WITH_SIZE);
  return operand;
}

export function checkFunction(
  stream: TokenStream,
  name: ConditionFunction,
  operands: readonly Operand[],
): void {
  checkCount(stream, name, operands, OPERAND_COUNTS[name]);
  const [first, second] = operands as readonly [Operand, Operand];
  switch (name) {
    case "attribute_exists":
    case "attribute_not_exists":
      if (first.kind !== "path") {
        throw stream.error(`Operator or function requires a document path; operator or function: ${name}`);
      }
      return;
    case "attribute_type":
      checkTypeName(stream, second);
      return;
    case "begins_with":
      checkType(stream, name, first, ["S", "B"]);
      checkType(stream, name, second, ["S", "B"]);
      checkDistinct(stream, name, operands);
      return;
    case "contains":
      checkDistinct(stream, name, operands);
  }
}

export function checkCount(
  stream: TokenStream,
  name: string,
  operands: readonly unknown[],
  count: number,
): void {
  if (operands.length === count) return;
  throw stream.error(
    `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${operands.length}`,
  );
}

/** Checks only what can be known without an item. */
export function checkType(
  stream: TokenStream,
  name: string,
  operand: Operand | { readonly kind: string },
  allowed: readonly AttributeType[],
): void {
  const type = staticType(operand as Operand);
  if (type === undefined || allowed.includes(type)) return;
  throw stream.error(
    `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`,
  );
}

function staticType(operand: Operand): AttributeType | undefined {
  if (operand.kind === "value") return typeOf(operand.value);
  return operand.kind === "size" ? "N" : undefined;
}

function checkTypeName(stream: TokenStream, operand: Operand): void {
  if (operand.kind !== "value") {
    throw stream.error(
      "Incorrect operand type for operator or function; operator or function: attribute_type",
    );
  }
  checkType(stream, "attribute_type", operand, ["S"]);
  const { S } = operand.value as { readonly S: string };
  if (ATTRIBUTE_TYPES.some((type) => type === S)) return;
  throw stream.error(
    `Invalid attribute type name found; type: ${S}, valid types: {${ATTRIBUTE_TYPES.join(",")}}`,
  );
}

function checkDistinct(stream: TokenStream, name: string, [first, ...others]: readonly Operand[]): void {
  if (first?.kind !== "path") return;
  const path = JSON.stringify(first.path);
  if (!others.some((each) => each.kind === "path" && JSON.stringify(each.path) === path)) return;
  throw stream.error(
    `The first operand must be distinct from the remaining operands for this operator or function; operator: ${name}, first operand: [${first.path.join(", ")}]`,
  );
}
