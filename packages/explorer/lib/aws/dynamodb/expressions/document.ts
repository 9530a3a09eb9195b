/**
 * Reads, sets and removes values at document paths. Returns new documents, and never changes the given one.
 */
import { type DynamoDBError, invalid } from "../dynamodb-error.ts";
import {
  type AttributeValue,
  attributeOf,
  type Item,
  withAttribute,
  withoutAttribute,
} from "../values/attribute-value.ts";
import type { DocumentPath } from "./syntax.ts";

export function valueAt(item: Item | undefined, path: DocumentPath): AttributeValue | undefined {
  let value: AttributeValue | undefined = item && { M: item };
  for (const element of path) {
    value = value && childOf(value, element);
    if (value === undefined) return undefined;
  }
  return value;
}

/** A list index past the end appends. Throws when the map or list that should hold the value is missing. */
export function withValueAt(item: Item, path: DocumentPath, value: AttributeValue): Item {
  return (placed({ M: item }, path, value) as { readonly M: Item }).M;
}

/** A missing value needs no removal, but the map or list around it must be there. */
export function withoutValueAt(item: Item, path: DocumentPath): Item {
  const [element, ...rest] = path;
  if (element === undefined) throw invalidPath();
  return (removed({ M: item }, element, rest) as { readonly M: Item }).M;
}

function placed(
  container: AttributeValue | undefined,
  path: DocumentPath,
  value: AttributeValue,
): AttributeValue {
  const [element, ...rest] = path;
  if (element === undefined) return value;
  if (container === undefined) throw invalidPath();
  return withChild(container, element, placed(childOf(container, element), rest, value));
}

function removed(container: AttributeValue, element: string | number, rest: DocumentPath): AttributeValue {
  const child = childOf(container, element);
  const [next, ...others] = rest;
  if (next === undefined) return withoutChild(container, element);
  if (child === undefined) throw invalidPath();
  return withChild(container, element, removed(child, next, others));
}

function childOf(container: AttributeValue, element: string | number): AttributeValue | undefined {
  if (typeof element === "string") return "M" in container ? attributeOf(container.M, element) : undefined;
  return "L" in container ? container.L[element] : undefined;
}

function withChild(
  container: AttributeValue,
  element: string | number,
  child: AttributeValue,
): AttributeValue {
  if (typeof element === "string" && "M" in container) {
    return { M: withAttribute(container.M, element, child) };
  }
  if (typeof element === "number" && "L" in container) {
    return { L: container.L.toSpliced(element, 1, child) };
  }
  throw invalidPath();
}

function withoutChild(container: AttributeValue, element: string | number): AttributeValue {
  if (typeof element === "string" && "M" in container) return { M: withoutAttribute(container.M, element) };
  if (typeof element === "number" && "L" in container) return { L: container.L.toSpliced(element, 1) };
  throw invalidPath();
}

function invalidPath(): DynamoDBError {
  return invalid("The document path provided in the update expression is invalid for update");
}
