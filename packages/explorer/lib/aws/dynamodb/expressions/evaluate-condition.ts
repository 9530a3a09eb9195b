/** Whether a condition holds for an item; a missing item has no attributes. */
import { type AttributeValue, type Item, typeOf } from "../values/attribute-value.ts";
import { areEqual, compareScalars } from "../values/compare-values.ts";
import { membersOf } from "../values/sets.ts";
import { valueAt } from "./document.ts";
import type { Comparator, Condition, ConditionFunction, Operand } from "./syntax.ts";

export function holds(condition: Condition, item: Item | undefined): boolean {
  switch (condition.kind) {
    case "and":
      return holds(condition.left, item) && holds(condition.right, item);
    case "or":
      return holds(condition.left, item) || holds(condition.right, item);
    case "not":
      return !holds(condition.condition, item);
    case "compare":
      return compares(
        condition.comparator,
        operandValue(condition.left, item),
        operandValue(condition.right, item),
      );
    case "between": {
      const value = operandValue(condition.operand, item);
      return (
        compares(">=", value, operandValue(condition.lower, item)) &&
        compares("<=", value, operandValue(condition.upper, item))
      );
    }
    case "in": {
      const value = operandValue(condition.operand, item);
      return condition.options.some((option) => compares("=", value, operandValue(option, item)));
    }
    case "function":
      return applies(
        condition.name,
        condition.operands.map((operand) => operandValue(operand, item)),
      );
  }
}

/** Values of different types, and missing values, are unequal and can't be ordered. */
export function compares(
  comparator: Comparator,
  left: AttributeValue | undefined,
  right: AttributeValue | undefined,
): boolean {
  if (comparator === "<>") return !compares("=", left, right);
  if (left === undefined || right === undefined) return false;
  if (comparator === "=") return areEqual(left, right);
  const order = compareScalars(left, right);
  if (order === undefined) return false;
  switch (comparator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

export function beginsWith(value: AttributeValue | undefined, prefix: AttributeValue | undefined): boolean {
  if (value === undefined || prefix === undefined) return false;
  if ("S" in value && "S" in prefix) return value.S.startsWith(prefix.S);
  if ("B" in value && "B" in prefix) {
    return Buffer.compare(value.B.subarray(0, prefix.B.byteLength), prefix.B) === 0;
  }
  return false;
}

function operandValue(operand: Operand, item: Item | undefined): AttributeValue | undefined {
  if (operand.kind === "value") return operand.value;
  if (operand.kind === "path") return valueAt(item, operand.path);
  const value = operandValue(operand.of, item);
  const size = value && sizeOf(value);
  return size === undefined ? undefined : { N: String(size) };
}

function sizeOf(value: AttributeValue): number | undefined {
  if ("S" in value) return value.S.length;
  if ("B" in value) return value.B.byteLength;
  if ("L" in value) return value.L.length;
  if ("M" in value) return Object.keys(value.M).length;
  return membersOf(value)?.length;
}

function applies(name: ConditionFunction, [first, second]: readonly (AttributeValue | undefined)[]): boolean {
  switch (name) {
    case "attribute_exists":
      return first !== undefined;
    case "attribute_not_exists":
      return first === undefined;
    case "attribute_type":
      return first !== undefined && second !== undefined && "S" in second && typeOf(first) === second.S;
    case "begins_with":
      return beginsWith(first, second);
    case "contains":
      return contains(first, second);
  }
}

function contains(whole: AttributeValue | undefined, part: AttributeValue | undefined): boolean {
  if (whole === undefined || part === undefined) return false;
  if ("S" in whole) return "S" in part && whole.S.includes(part.S);
  if ("B" in whole) return "B" in part && Buffer.from(whole.B).includes(Buffer.from(part.B));
  const members = "L" in whole ? whole.L : membersOf(whole);
  return members?.some((member) => areEqual(member, part)) ?? false;
}
