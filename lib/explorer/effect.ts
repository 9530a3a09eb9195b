/** What a handler has left in the world: items, messages that arrived, calls of other systems. Pure. */
import type { Plain } from "./plain-value.ts";

export const EFFECT_KINDS = ["item", "message", "call"] as const;

export interface Effect {
  readonly kind: (typeof EFFECT_KINDS)[number];
  /** The table, the queue, or method and URL of a call, without the ids in it. */
  readonly place: string;
  readonly content: { readonly [name: string]: Plain };
}

/** One thing inside a value, and where: `lines[].sku`. The order in a list is part of the value, not of the path. */
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

/** The same value with every leaf replaced by what `change` makes of it. */
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
