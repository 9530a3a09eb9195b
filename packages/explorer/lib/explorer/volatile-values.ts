/**
 * Values that differ between two undisturbed runs with other seeds and times: random ids, timestamps. They
 * are masked before runs are compared. Doubled and missing rows and counters still count. Pure.
 */
import { type Effect, leavesOf, mapLeaves } from "./effect.ts";
import { canonicalText, type Plain } from "./plain-value.ts";

/** Stands for a value that differs in each run. */
export const MASK = "…";

/** The place of the handler's answer; effects have theirs by `placeOf`. */
export const ANSWER_PLACE = "the answer";

/** A value to compare, under its place: an attribute of one table is independent of another table's. */
export interface Observed {
  readonly place: string;
  readonly content: Plain;
}

export class VolatileValues {
  /** By place and path, the values that both runs share; other values there are masked. */
  readonly #paths: ReadonlyMap<string, ReadonlySet<unknown>>;
  readonly #ignored: ReadonlySet<string>;

  /** `ignored` are names of attributes that are always masked. */
  constructor(one: readonly Observed[], other: readonly Observed[], ignored: readonly string[] = []) {
    const ours = valuesByPath(one);
    const theirs = valuesByPath(other);
    const paths = new Map<string, ReadonlySet<unknown>>();
    for (const [path, values] of [...ours, ...theirs]) {
      const left = ours.get(path) ?? values;
      const right = theirs.get(path) ?? values;
      if (areEqualCounts(left, right)) continue;
      paths.set(path, new Set([...left.keys()].filter((value) => right.has(value))));
    }
    this.#paths = paths;
    this.#ignored = new Set(ignored);
  }

  /** "id, createdAt of item orders" */
  get names(): string[] {
    const places = new Map<string, string[]>();
    for (const key of this.#paths.keys()) {
      const [place, path] = JSON.parse(key) as [string, string];
      places.set(place, [...(places.get(place) ?? []), path || "all"]);
    }
    return [...places].map(([place, paths]) => `${paths.join(", ")} of ${place}`);
  }

  isVolatile(place: string, path: string, value: unknown): boolean {
    const stable = this.#paths.get(keyOf(place, path));
    return this.#isIgnored(path) || (stable !== undefined && !stable.has(value));
  }

  mask({ place, content }: Observed): Plain {
    return mapLeaves(content, ({ path, value }) => (this.isVolatile(place, path, value) ? MASK : value));
  }

  /** For values that must be equal within one run, and may differ between runs. */
  maskIgnored({ content }: Observed): Plain {
    return mapLeaves(content, ({ path, value }) => (this.#isIgnored(path) ? MASK : value));
  }

  #isIgnored(path: string): boolean {
    return this.#ignored.has(path.split(".").at(-1)?.replaceAll("[]", "") ?? "");
  }
}

export function placeOf({ kind, place }: Effect): string {
  return `${kind} ${place}`;
}

/** The values at each path, and how often each occurs. */
function valuesByPath(observed: readonly Observed[]): Map<string, Map<unknown, number>> {
  const paths = new Map<string, Map<unknown, number>>();
  for (const { place, content } of observed) {
    for (const { path, value } of leavesOf(content)) {
      const key = keyOf(place, path);
      const counts = paths.get(key) ?? new Map<unknown, number>();
      paths.set(key, counts.set(value, (counts.get(value) ?? 0) + 1));
    }
  }
  return paths;
}

function areEqualCounts(left: ReadonlyMap<unknown, number>, right: ReadonlyMap<unknown, number>): boolean {
  return left.size === right.size && [...left].every(([value, count]) => right.get(value) === count);
}

function keyOf(place: string, path: string): string {
  return canonicalText([place, path]);
}
