/** Checks which values JSON represents faithfully. */
import { kindOf } from "./kind-of.ts";

export interface Unfaithful {
  /** The path in the form `$.items.2.price`: names only, no values. */
  readonly path: string;
  readonly why: string;
}

/** Encoders recurse, and V8's stack ends at a few thousand levels, or sooner if it is already in use. */
const MAX_DEPTH = 500;
const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;

/** Finds the first thing in `value` that JSON would drop, change or fail on; `undefined` if there is none. */
export function findUnfaithful(value: unknown): Unfaithful | undefined {
  const names = ["$"];
  return value === undefined ? undefined : firstFault(names, () => faultIn(value, names, []));
}

/**
 * The fault that a walk finds, or that ends it: the stack ends, or a getter throws.
 * @param path after a fault, the path to it
 */
export function firstFault(
  path: readonly (string | number)[],
  walk: () => string | undefined,
): Unfaithful | undefined {
  let why: string | undefined;
  try {
    why = walk();
  } catch (error) {
    why = error instanceof RangeError ? TOO_DEEP : "a value that throws when it is read";
  }
  return why === undefined ? undefined : { path: path.join("."), why };
}

/**
 * Finds a part of `value` that JSON drops or writes as `{}`, although it may hold data: a function, a Map, a Promise, an Error.
 * `value` must be JSON-encodable, so the search ends.
 */
export function findDropped(value: unknown): Unfaithful | undefined {
  const left: [path: string, value: unknown][] = [["$", value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, each] = next;
    if (typeof each === "function" || typeof each === "symbol") return { path, why: kindOf(each) };
    if (typeof each !== "object" || each === null || hasToJSON(each)) continue;
    const names = Object.keys(each);
    if (names.length === 0 && !Array.isArray(each) && !isPlainObject(each))
      return { path, why: nameOfClass(each) };
    for (const name of names) left.push([`${path}.${name}`, (each as Record<string, unknown>)[name]]);
  }
  return undefined;
}

function hasToJSON(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

function nameOfClass(value: object): string {
  return `a ${classNameOf(value)}: convert it first`;
}

/** According to the prototype: a member named `constructor` is data. */
export function classNameOf(value: object): string {
  return Object.getPrototypeOf(value).constructor?.name || "class instance";
}

/** Visits each value before `toJSON`, in the order of JSON.stringify. After a fault `names` is the path to it. */
function faultIn(value: unknown, names: string[], holders: object[]): string | undefined {
  if (typeof value !== "object" || value === null) return primitiveFault(value);
  const fault = containerFault(value, holders);
  if (fault !== undefined) return fault;
  const isArray = Array.isArray(value);
  holders.push(value);
  for (const name of Object.keys(value)) {
    names.push(name);
    const inner = (value as Record<string, unknown>)[name];
    const found = inner === undefined && !isArray ? undefined : faultIn(inner, names, holders);
    if (found !== undefined) return found;
    names.pop();
  }
  holders.pop();
  return undefined;
}

export function primitiveFault(value: unknown): string | undefined {
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : `${value}, which JSON would turn into null`;
  }
  return typeof value === "string" || typeof value === "boolean" || value === null
    ? undefined
    : kindOf(value);
}

/**
 * Whether a value has no prototype, or the one that all objects have: in this realm or another, such as a test runner's. An
 * object that inherits from other data isn't plain: the inherited data would be lost.
 */
export function isPlainObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "hasOwnProperty");
}

/** @param holders the objects around `value` */
export function containerFault(value: object, holders: readonly object[]): string | undefined {
  if (holders.length > MAX_DEPTH) return TOO_DEEP;
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) return nameOfClass(value);
  if (hasToJSON(value)) return "an object with toJSON: convert it first";
  if (isArray && Object.keys(value).length !== value.length) return "an array with holes or named properties";
  if (Object.getOwnPropertySymbols(value).length > 0) return "an object with symbol keys";
  return holders.includes(value) ? "a reference to itself" : undefined;
}
