/** Applies an update to an item. All values are computed from the item as it was, before anything changes. */
import { type DynamoDBError, invalid } from "../dynamodb-error.ts";
import type { AttributeValue, Item } from "../values/attribute-value.ts";
import { addDecimals, formatDecimal, negateDecimal, parseDecimal } from "../values/decimal.ts";
import { differenceOf, membersOf, unionOf } from "../values/sets.ts";
import { valueAt, withoutValueAt, withValueAt } from "./document.ts";
import type { DocumentPath, Update, UpdateAction, UpdateOperand } from "./syntax.ts";

interface PathChange {
  readonly path: DocumentPath;
  /** `undefined` removes the value. */
  readonly value: AttributeValue | undefined;
}

export function applyUpdate(update: Update, item: Item): Item {
  const changes = update.flatMap((action) => changeBy(action, item)).sort(comparePaths);
  let next = item;
  // Indexes refer to the lists before the update, so values are appended in the order of their indexes.
  // Elements are removed last, from the back.
  for (const { path, value } of changes) if (value !== undefined) next = withValueAt(next, path, value);
  for (const { path, value } of changes.reverse()) {
    if (value === undefined) next = withoutValueAt(next, path);
  }
  return next;
}

function changeBy(action: UpdateAction, item: Item): PathChange[] {
  const { path } = action;
  if (action.section === "REMOVE") return [{ path, value: undefined }];
  if (action.section === "SET") return [{ path, value: computed(action.value, item) }];
  const former = valueAt(item, path);
  if (action.section === "ADD") {
    return [{ path, value: former === undefined ? action.value : sum(former, action.value) }];
  }
  if (former === undefined) return path.length === 1 ? [] : [{ path, value: undefined }];
  const left = differenceOf(former, action.value);
  if (left === undefined) throw wrongType();
  return [{ path, value: membersOf(left)?.length === 0 ? undefined : left }];
}

function computed(operand: UpdateOperand, item: Item): AttributeValue {
  switch (operand.kind) {
    case "value":
      return operand.value;
    case "path":
      return existing(valueAt(item, operand.path));
    case "if_not_exists":
      return valueAt(item, operand.path) ?? computed(operand.otherwise, item);
    case "list_append": {
      const first = computed(operand.first, item);
      const second = computed(operand.second, item);
      if (!("L" in first && "L" in second)) throw wrongType();
      return { L: [...first.L, ...second.L] };
    }
    case "arithmetic": {
      const left = computed(operand.left, item);
      const right = computed(operand.right, item);
      if (!("N" in left && "N" in right)) throw wrongType();
      return { N: sumOf(left.N, right.N, operand.operator) };
    }
  }
}

function sum(former: AttributeValue, added: AttributeValue): AttributeValue {
  if ("N" in former && "N" in added) return { N: sumOf(former.N, added.N, "+") };
  const union = unionOf(former, added);
  if (union === undefined) throw wrongType();
  return union;
}

function sumOf(left: string, right: string, operator: "+" | "-"): string {
  const second = parseDecimal(right);
  return formatDecimal(addDecimals(parseDecimal(left), operator === "+" ? second : negateDecimal(second)));
}

function existing(value: AttributeValue | undefined): AttributeValue {
  if (value !== undefined) return value;
  throw invalid("The provided expression refers to an attribute that does not exist in the item");
}

function wrongType(): DynamoDBError {
  return invalid("An operand in the update expression has an incorrect data type");
}

function comparePaths({ path: first }: PathChange, { path: second }: PathChange): number {
  for (const [index, element] of first.entries()) {
    const other = second[index];
    if (element === other) continue;
    if (typeof element === "number" && typeof other === "number") return element - other;
    return String(element) < String(other) ? -1 : 1;
  }
  return 0;
}
