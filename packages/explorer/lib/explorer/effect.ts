/** The effects of a handler: items, messages that arrived, calls of other systems, objects in buckets. Pure. */
import type { Plain } from "./plain-value.ts";

export const EFFECT_KINDS = ["item", "message", "call", "object"] as const;

export interface Effect {
  readonly kind: (typeof EFFECT_KINDS)[number];
  /** The table, the queue, the bucket, or a call's method and URL without the ids in it. */
  readonly place: string;
  readonly content: { readonly [name: string]: Plain };
}

/** Items with the same key are one item, however many of their other values differ. */
export interface KeyedEffect extends Effect {
  /** The names of its key's attributes. */
  readonly keyNames: readonly string[];
}

/**
 * A single value inside a value, and its path: `lines[].sku`. The order of a list belongs to the value, and
 * not to the path.
 */
export interface Leaf {
  readonly path: string;
  readonly value: string | number | boolean | null;
}

export function leavesOf(value: Plain, path = ""): Leaf[] {
  if (typeof value !== "object" || value === null) return [{ path, value }];
  if (Array.isArray(value)) {
    return value.length === 0
      ? [{ path: `${path}[]`, value: "(empty)" }]
      : value.flatMap((each) => leavesOf(each, `${path}[]`));
  }
  return Object.entries(value).flatMap(([name, each]) =>
    leavesOf(each, path === "" ? name : `${path}.${name}`),
  );
}

/** The same value with `change` applied to every leaf. */
export function mapLeaves(value: Plain, change: (leaf: Leaf) => Plain, path = ""): Plain {
  if (typeof value !== "object" || value === null) return change({ path, value });
  if (Array.isArray(value)) return value.map((each) => mapLeaves(each, change, `${path}[]`));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      mapLeaves(each, change, path === "" ? name : `${path}.${name}`),
    ]),
  );
}
