/**
 * Converts plain JavaScript values to DynamoDB's format and back, without the SDK's package for that, and measures their size.
 */
import { types } from "node:util";
import { gunzipSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { RecordCorruptError } from "../core/errors.ts";
import { classNameOf, isPlainObject } from "../core/json.ts";

export type Item = Record<string, AttributeValue>;

/** A value that DynamoDB can't store. The message says why, and never repeats the value. */
class UnstorableError extends TypeError {}

/** DynamoDB allows 32 levels. The encoders stay far from the end of the stack. */
const MAX_LEVELS = 40;

/**
 * Leaves out members that are `undefined` or functions. Only own members count: inherited ones aren't data.
 * @throws TypeError for a value that DynamoDB can't store exactly
 */
export function toItem(values: object, level = 0): Item {
  const item: Item = {};
  for (const name in values) {
    if (!Object.hasOwn(values, name)) continue;
    const value: unknown = (values as Record<string, unknown>)[name];
    if (!isStored(value)) continue;
    // The SDK writes and reads members by assignment, which would set the prototype instead.
    if (name === "__proto__") throw new UnstorableError("has a property named `__proto__`: rename it");
    item[wellFormed(name)] = toAttribute(value, level);
  }
  return item;
}

const isStored = (value: unknown) => value !== undefined && typeof value !== "function";

/**
 * The prototype and the engine's internal type decide. Members never do: `constructor`, `type` or `toJSON` may be fields of a
 * request body.
 */
function toAttribute(value: unknown, level: number): AttributeValue {
  if (typeof value === "string") return { S: wellFormed(value) };
  if (typeof value === "number" || typeof value === "bigint") return { N: numberText(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value === null) return { NULL: true };
  if (typeof value !== "object") throw new UnstorableError(`is a ${typeof value}`);
  if (level > MAX_LEVELS)
    throw new UnstorableError("is nested deeper than the 32 levels that DynamoDB allows");
  if (Array.isArray(value)) return { L: value.filter(isStored).map((each) => toAttribute(each, level + 1)) };
  if (isPlainObject(value)) return { M: toItem(value, level + 1) };
  const bytes = bytesOf(value);
  if (bytes) return { B: bytes };
  if (types.isSet(value)) return toSet([...value].filter((each) => each !== undefined));
  if (types.isMap(value)) return { M: toItem(Object.fromEntries(value), level + 1) };
  if (types.isBoxedPrimitive(value)) return toAttribute(value.valueOf(), level);
  if (isExactNumber(value)) return { N: `${value}` };
  const name = classNameOf(value);
  throw new UnstorableError(
    /^(Blob|File)$/.test(name)
      ? `is a ${name}: pass its bytes, as in \`new Uint8Array(await blob.arrayBuffer())\``
      : `is a ${name}: convert it to plain values`,
  );
}

/** All members are of one type: strings, numbers or bytes. */
function toSet(members: readonly unknown[]): AttributeValue {
  const all = members.map((each) => toAttribute(each, 0));
  for (const type of ["S", "N", "B"] as const) {
    const values = all.flatMap((each) => each[type] ?? []);
    if (values.length > 0 && values.length === all.length) return { [`${type}S`]: values } as never;
  }
  throw new UnstorableError("is an empty set, or a set of anything but strings, numbers or bytes");
}

/** A copy of the bytes: the handler may change its buffer while the request is retried. */
function bytesOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  return types.isAnyArrayBuffer(value) ? new Uint8Array(value).slice() : undefined;
}

/** The SDK's NumberValue, which holds the digits of any number, recognized by its class. */
function isExactNumber(value: object): boolean {
  return typeof Object.getPrototypeOf(value).toAttributeValue === "function";
}

/** A number that is too large may have lost digits already. */
function numberText(value: number | bigint): string {
  if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new UnstorableError(
      Number.isFinite(value)
        ? "is a number beyond ±(2^53−1), which may have lost digits: pass a BigInt"
        : `is ${value}`,
    );
  }
  return `${value}`;
}

/** DynamoDB would replace a lone surrogate with another character. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new UnstorableError("is a string with a lone surrogate, or a property whose name has one");
}

/** @throws TypeError for anything but an item */
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
  if (value === undefined) throw new TypeError("a value of a type that DynamoDB doesn't have");
  return value;
}

/** Reads large integers as BigInt: by itself, the SDK throws for some numbers that JavaScript can't hold exactly. */
function readNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}

/** Circular objects never end. */
const MAX_DEPTH = 12;

/** Says which value in `path` DynamoDB can't store, and why, without the value itself: the SDK's own error repeats it. */
export function unstorableIn(path: readonly string[], value: unknown): string {
  const next = path.length < MAX_DEPTH && membersOf(value).find(([, inner]) => faultOf(inner));
  return next ? unstorableIn([...path, next[0]], next[1]) : `${path.join(".")} ${faultOf(value)}`;
}

function faultOf(value: unknown): string | undefined {
  try {
    toItem({ value });
    return undefined;
  } catch (error) {
    return error instanceof UnstorableError ? error.message : "can't be read";
  }
}

function membersOf(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  try {
    return typeof value === "object" ? Object.entries(value ?? {}) : [];
  } catch {
    return [];
  }
}

/** The largest item. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
export const MAX_ITEM_BYTES = 409_600;

/** Counts text and binaries exactly, and anything else as one byte: never more than DynamoDB counts for plain values. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 1;
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return value.byteLength;
  let bytes = 0;
  for (const [name, inner] of Object.entries(value))
    bytes += (Array.isArray(value) ? 1 : sizeOf(name)) + sizeOf(inner);
  return bytes;
}

/** The longest result text. A compressed item could expand to a thousand times its size in a function's memory. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** The text of a `result` attribute. */
export function readText(value: AttributeValue | undefined): string {
  if (value?.S !== undefined) return value.S;
  try {
    return gunzipSync(value?.B as Uint8Array, { maxOutputLength: MAX_TEXT_BYTES }).toString();
  } catch (cause) {
    throw new RecordCorruptError("the stored result can't be read", { cause });
  }
}
