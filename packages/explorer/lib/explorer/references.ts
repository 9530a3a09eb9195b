/**
 * References: in undisturbed runs an id in an answer is the id of a row, and an id in a message that of an
 * order. A run with a reference that leads nowhere has lost its target. Pure.
 */
import { type Leaf, leavesOf } from "./effect.ts";
import { ANSWER_PLACE, type Observed } from "./volatile-values.ts";

interface Reference {
  readonly from: string;
  readonly to: string;
}

/** Short texts and times may be equal by chance. */
const MIN_LENGTH = 8;
const TIME = /^\d{4}-\d\d-\d\d|^[\d.,:+-]+$/;

/** The references that both undisturbed runs have, between values that differ from run to run. */
export function referencesIn(
  one: readonly Observed[],
  other: readonly Observed[],
  isVolatile: (place: string, leaf: Leaf) => boolean,
): Reference[] {
  const ours = idsByPath(one, isVolatile);
  const theirs = idsByPath(other, isVolatile);
  const paths = [...ours.keys()].filter((path) => theirs.has(path));
  return paths.flatMap((from) =>
    paths
      .filter((to) => isReference(from, to) && leadsTo(ours, from, to) && leadsTo(theirs, from, to))
      .map((to) => ({ from, to })),
  );
}

/** Describes the references that lead nowhere. */
export function danglingIn(observed: readonly Observed[], references: readonly Reference[]): string[] {
  const ids = idsByPath(observed, () => true);
  const broken = references.filter(({ from, to }) => ids.has(from) && !leadsTo(ids, from, to));
  return broken.map(({ from, to }) => `${from} refers to something that isn't in ${to}`);
}

/** References lead from an answer, a message or a call to an effect, and not back. */
function isReference(from: string, to: string): boolean {
  return from !== to && !from.includes(" of item ") && !to.endsWith(` of ${ANSWER_PLACE}`);
}

function leadsTo(ids: ReadonlyMap<string, ReadonlySet<unknown>>, from: string, to: string): boolean {
  const named = ids.get(from) ?? new Set();
  const there = ids.get(to) ?? new Set();
  return named.size > 0 && [...named].every((id) => there.has(id));
}

/** The ids at each "path of place". */
function idsByPath(
  observed: readonly Observed[],
  isVolatile: (place: string, leaf: Leaf) => boolean,
): Map<string, Set<unknown>> {
  const ids = new Map<string, Set<unknown>>();
  for (const { place, content } of observed) {
    for (const leaf of leavesOf(content)) {
      if (!isId(leaf.value) || !isVolatile(place, leaf)) continue;
      const path = `${leaf.path} of ${place}`;
      ids.set(path, (ids.get(path) ?? new Set()).add(leaf.value));
    }
  }
  return ids;
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value.length >= MIN_LENGTH && !TIME.test(value);
}
