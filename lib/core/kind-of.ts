import { types } from "node:util";

/** A wrong value may be a secret in the wrong place, so only the kind of strings and objects is shown. */
export function kindOf(value: unknown): string {
  if (value === "") return "an empty string";
  if (typeof value === "string") {
    return `a string of ${counted(value.length, "character")}${value.isWellFormed() ? "" : " with a lone surrogate"}`;
  }
  if (Array.isArray(value))
    return value.length === 0 ? "an empty array" : `an array of ${counted(value.length, "item")}`;
  if (typeof value === "object" && value !== null) return types.isPromise(value) ? "a promise" : "an object";
  return /^(function|symbol|bigint)$/.test(typeof value) ? `a ${typeof value}` : `${value}`;
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
