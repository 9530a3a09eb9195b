/** Plain JavaScript values as DynamoDB writes them, and back, without the SDK's package for that; and how large they are. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";

export type Item = Record<string, AttributeValue>;

/**
 * Properties that are `undefined` are left out, and so are functions.
 * @throws TypeError for what DynamoDB cannot store
 */
export function toItem(values: object): Item {
  const item: Item = {};
  // Inherited ones too, as the SDK takes them.
  for (const name in values) {
    const value: unknown = (values as Record<string, unknown>)[name];
    if (isStored(value)) item[name] = toAttribute(value);
  }
  return item;
}

const isStored = (value: unknown) => value !== undefined && typeof value !== "function";

/** By the names of their classes: they may be of another realm. */
const BINARY = /^(ArrayBuffer|Blob|Buffer|DataView|File|(Big)?(Int|Uint)\d+(Clamped)?Array|Float\d+Array)$/;

function toAttribute(value: unknown): AttributeValue {
  if (value === null) return { NULL: true };
  const made = (value as object).constructor;
  const kind = made?.name ?? (made || typeof value !== "object" ? "" : "Object");
  if (Array.isArray(value)) return { L: value.filter(isStored).map(toAttribute) };
  if (kind === "Set") return toSet([...(value as Set<unknown>)].filter((each) => each !== undefined));
  if (kind === "Map") return { M: toItem(Object.fromEntries(value as Map<string, unknown>)) };
  if (kind === "Object") return { M: toItem(value as object) };
  if (BINARY.test(kind)) return { B: value as Uint8Array };
  if (kind === "Boolean") return { BOOL: Boolean((value as boolean).valueOf()) };
  if (kind === "Number" || isNumber(value)) return { N: numberText(value) };
  if (kind === "String") return { S: `${value}` };
  throw new TypeError("no type of DynamoDB's");
}

/** The first member says of what type all are. */
function toSet(members: readonly unknown[]): AttributeValue {
  const [first] = members;
  if (typeof first === "string") return { SS: members.map((each) => (each as string).toString()) };
  if (isNumber(first)) return { NS: members.map(numberText) };
  if (BINARY.test(`${first?.constructor.name}`)) return { BS: members as Uint8Array[] };
  throw new TypeError("an empty set, or one of another type");
}

/** Also the NumberValue of the SDK, which holds the digits of any number. */
function isNumber(value: unknown): boolean {
  return /number|bigint/.test(typeof value) || "toAttributeValue" in Object(value);
}

/** A number that is too large may have lost digits already, and one that is none has no text. */
function numberText(value: unknown): string {
  const isRounded =
    typeof Object(value).valueOf() === "number" && !(Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER);
  if (isRounded) throw new TypeError("no exact number");
  return `${value}`;
}

/** @throws TypeError for what is no item */
export function fromItem(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, fromAttribute(value)]));
}

function fromAttribute(attribute: AttributeValue): unknown {
  const { NULL, BOOL, N, S, B, L, M, NS, SS, BS } = attribute;
  if (NULL !== undefined) return null;
  if (N !== undefined) return readNumber(N);
  if (NS) return new Set(NS.map(readNumber));
  if (L) return L.map(fromAttribute);
  if (M) return fromItem(M);
  const value = BOOL ?? S ?? B ?? ((SS ?? BS) && new Set<unknown>(SS ?? BS));
  if (value === undefined) throw new TypeError("a value of no type that DynamoDB has");
  return value;
}

/** Reads large integers as BigInt: the SDK alone throws for some numbers that JavaScript cannot hold exactly. */
function readNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}

/** Objects that hold themselves have no end. */
const MAX_DEPTH = 12;

/** Which value in `path` DynamoDB cannot store, by its names and type: the SDK's own error repeats the value. */
export function unstorableIn(path: readonly string[], value: unknown): string {
  for (const [name, inner] of Object.entries(Object(value))) {
    try {
      toItem({ inner });
    } catch {
      if (path.length < MAX_DEPTH) return unstorableIn([...path, name], inner);
    }
  }
  return `${path.join(".")} is of type ${typeof value}`;
}

/** The largest item. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
export const MAX_ITEM_BYTES = 409_600;

/** Counts text and binaries exactly, and anything else as one byte: never more than DynamoDB counts for plain values. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 1;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 0;
  for (const [name, inner] of Object.entries(value))
    bytes += (Array.isArray(value) ? 1 : sizeOf(name)) + sizeOf(inner);
  return bytes;
}
