/** Reads values from a request: checks them, brings numbers into their plain form, and copies. */
import { invalid, invalidParameterValues, notSerializable } from "../dynamodb-error.ts";
import { ATTRIBUTE_TYPES, type AttributeType, type AttributeValue, type Item } from "./attribute-value.ts";
import { formatDecimal, parseDecimal } from "./decimal.ts";
import { inOrder } from "./sets.ts";

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-attributes */
const MAX_DEPTH = 32;

/**
 * @throws DynamoDBError `ValidationException`, or `SerializationException` if it isn't an AttributeValue at
 * all
 */
export function readItem(input: unknown, depth = 1): Item {
  return Object.fromEntries(
    Object.entries(object(input)).map(([name, value]) => {
      if (name === "") throw invalid("Empty attribute name");
      return [name, readValue(value, depth)];
    }),
  );
}

export function readValue(input: unknown, depth = 1): AttributeValue {
  const value = object(input);
  const types = ATTRIBUTE_TYPES.filter((type) => value[type] !== undefined && value[type] !== null);
  const [type] = types;
  if (type === undefined) {
    throw invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  }
  if (types.length > 1) {
    throw invalid(
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    );
  }
  checkLevel(depth);
  return readTyped(type, value[type], depth);
}

/** Checks the size of an item after an update. */
export function checkDepth(item: Item, depth = 1): void {
  for (const value of Object.values(item)) checkDepthOf(value, depth);
}

function checkDepthOf(value: AttributeValue, depth: number): void {
  checkLevel(depth);
  if ("M" in value) checkDepth(value.M, depth + 1);
  if ("L" in value) for (const each of value.L) checkDepthOf(each, depth + 1);
}

function checkLevel(depth: number): void {
  if (depth <= MAX_DEPTH) return;
  throw invalid(
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
  );
}

function readTyped(type: AttributeType, content: unknown, depth: number): AttributeValue {
  switch (type) {
    case "S":
      return { S: text(content) };
    case "N":
      return { N: plainNumber(text(content)) };
    case "B":
      return { B: bytes(content) };
    case "SS":
      return inOrder({ SS: distinct("string", list(content).map(text), String) });
    case "NS":
      return inOrder({ NS: distinct("number", list(content).map(text).map(plainNumber), String) });
    case "BS":
      return inOrder({
        BS: distinct("binary", list(content).map(bytes), (each) => Buffer.from(each).toString("hex")),
      });
    case "L":
      return { L: list(content).map((value) => readValue(value, depth + 1)) };
    case "M":
      return { M: readItem(content, depth + 1) };
    case "BOOL":
      return { BOOL: boolean(content) };
    case "NULL":
      if (!boolean(content)) {
        throw invalidParameterValues("Null attribute value types must have the value of true");
      }
      return { NULL: true };
  }
}

function plainNumber(number: string): string {
  return formatDecimal(parseDecimal(number));
}

function distinct<T>(kind: string, members: readonly T[], nameOf: (member: T) => string): readonly T[] {
  if (members.length === 0) throw invalidParameterValues(`An ${kind} set  may not be empty`);
  if (new Set(members.map(nameOf)).size < members.length) {
    throw invalidParameterValues(`Input collection of ${kind} values contains duplicates.`);
  }
  return members;
}

function object(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) {
    return input as Readonly<Record<string, unknown>>;
  }
  throw notSerializable("an AttributeValue or a map of them was expected");
}

function list(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  throw notSerializable("a list was expected");
}

function text(content: unknown): string {
  if (typeof content === "string") return content;
  throw notSerializable("a string was expected");
}

function boolean(content: unknown): boolean {
  if (typeof content === "boolean") return content;
  throw notSerializable("a boolean was expected");
}

function bytes(content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return new Uint8Array(content);
  throw notSerializable("bytes were expected");
}
