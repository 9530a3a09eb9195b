/** Compares the effects of two runs as multisets, and describes the difference. Pure. */
import { type Effect, type KeyedEffect, leavesOf } from "./effect.ts";
import type { FindingKind } from "./finding.ts";
import { canonicalText, type Plain } from "./plain-value.ts";
import { MASK, placeOf, type VolatileValues } from "./volatile-values.ts";

export interface Difference {
  readonly kind: Extract<FindingKind, "happens-twice" | "lost" | "differs">;
  /** "2 items in orders instead of 1" */
  readonly what: string;
  /** The kind of the effect, and its place. */
  readonly effect: Pick<Effect, "kind" | "place">;
  /** The effect is there, with other values. */
  readonly isMoved?: true;
}

interface Form {
  readonly content: Plain;
  /** The values of an item's key; `undefined` if they differ in each run. */
  readonly key: string | undefined;
  readonly text: string;
}

/** `before` are the effects that existed before the handler ran. They show in which direction a number moves. */
export function compareEffects(
  expected: readonly Effect[],
  found: readonly Effect[],
  volatile: VolatileValues,
  before: readonly Effect[] = [],
): Difference[] {
  const places = new Map([...expected, ...found].map((effect) => [placeOf(effect), effect]));
  return [...places.values()].flatMap((effect) => {
    const at = (effects: readonly Effect[]) => formsAt(effects, effect, volatile);
    return compareForms(effect, at(expected), at(found), at(before));
  });
}

function formsAt(effects: readonly Effect[], at: Effect, volatile: VolatileValues): Form[] {
  return effects
    .filter((effect) => placeOf(effect) === placeOf(at))
    .map((effect) => {
      const content = volatile.mask({ place: placeOf(effect), content: effect.content });
      return { content, key: keyOf(effect, content), text: canonicalText(content) };
    });
}

function keyOf(effect: Effect | KeyedEffect, content: Plain): string | undefined {
  if (!("keyNames" in effect)) return undefined;
  const values = effect.keyNames.map((name) => Object(content)[name] as Plain);
  return values.includes(MASK) ? undefined : canonicalText(values);
}

function compareForms(
  { kind, place }: Effect,
  expected: readonly Form[],
  found: readonly Form[],
  before: readonly Form[],
): Difference[] {
  const effect = { kind, place };
  const missing = without(expected, found);
  const extra = without(found, expected);
  const differences: Difference[] = [];
  for (const find of [sameKey, mostAlike]) {
    for (const form of [...missing]) {
      const like = find(form, extra);
      if (like === undefined) continue;
      missing.splice(missing.indexOf(form), 1);
      extra.splice(extra.indexOf(like), 1);
      const former = sameKey(form, before) ?? mostAlike(form, before);
      differences.push({ ...changeOf(form, like, former, effect), effect });
    }
  }
  const what = `${countOf(found.length, effect)} instead of ${expected.length === 0 ? "none" : expected.length}`;
  if (extra.length > 0) differences.push({ kind: "happens-twice", what, effect });
  if (missing.length > 0) differences.push({ kind: "lost", what, effect });
  return differences;
}

/** The members of `forms` that `others` lacks, as often as they are missing. */
function without(forms: readonly Form[], others: readonly Form[]): Form[] {
  const left = others.map(({ text }) => text);
  return forms.filter(({ text }) => {
    const index = left.indexOf(text);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

function sameKey({ key }: Form, candidates: readonly Form[]): Form | undefined {
  return key === undefined ? undefined : candidates.find((candidate) => candidate.key === key);
}

/** The form that has the most in common with it, at least half of its content. */
function mostAlike(form: Form, candidates: readonly Form[]): Form | undefined {
  const own = new Set(leavesOf(form.content).map((leaf) => canonicalText([leaf.path, leaf.value])));
  let best: Form | undefined;
  let most = own.size / 2 - 0.5;
  for (const candidate of candidates) {
    const shared = leavesOf(candidate.content).filter((leaf) =>
      own.has(canonicalText([leaf.path, leaf.value])),
    ).length;
    if (shared > most) [best, most] = [candidate, shared];
  }
  return best;
}

function changeOf(
  expected: Form,
  found: Form,
  before: Form | undefined,
  { kind, place }: Pick<Effect, "kind" | "place">,
): Pick<Difference, "kind" | "what" | "isMoved"> {
  const wanted = valuesOf(expected);
  const got = valuesOf(found);
  const former = before && valuesOf(before);
  const changed = [...new Set([...wanted.keys(), ...got.keys()])].filter(
    (path) => wanted.get(path)?.join() !== got.get(path)?.join(),
  );
  const words = changed
    .slice(0, 3)
    .map((path) => `${path} is ${shown(got.get(path))} instead of ${shown(wanted.get(path))}`);
  const more = changed.length > words.length ? [`${changed.length - words.length} more`] : [];
  const [first = ""] = changed;
  const move =
    growthOf(wanted.get(first), got.get(first)) ??
    moveOf(former?.get(first)?.join(), wanted.get(first)?.join(), got.get(first)?.join());
  return {
    kind: move,
    isMoved: true,
    what: `${[...words, ...more].join(", ")} in ${one(kind)} ${inPlace(kind, place)}`,
  };
}

/** A list with the same values and more was appended to twice; one that lacks some was appended to less often. */
function growthOf(wanted: readonly string[] = [], got: readonly string[] = []) {
  const isWithin = (few: readonly string[], many: readonly string[]) =>
    few.length > 0 && few.length < many.length && few.every((value) => many.includes(value));
  if (isWithin(wanted, got)) return "happens-twice";
  return isWithin(got, wanted) ? "lost" : undefined;
}

/** A number that moved too far was moved twice; a number that fell short was moved too little. */
function moveOf(before: string | undefined, expected: string | undefined, found: string | undefined) {
  const [wanted, got] = [numberIn(expected), numberIn(found)];
  if (wanted === undefined || got === undefined) return "differs";
  const start = numberIn(before) ?? 0;
  if (wanted === start) return "happens-twice";
  const ratio = (got - start) / (wanted - start);
  return ratio > 1 ? "happens-twice" : ratio < 1 ? "lost" : "differs";
}

/** The values at each path; the elements of a list share a path. */
function valuesOf({ content }: Form): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { path, value } of leavesOf(content))
    values.set(path, [...(values.get(path) ?? []), JSON.stringify(value)]);
  return values;
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function shown(values: readonly string[] = ["absent"]): string {
  const text = values.join(", ");
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** "2 items in orders", "no call of POST https://gateway.example.com" */
export function countOf(count: number, { kind, place }: Pick<Effect, "kind" | "place">): string {
  const number = count === 0 ? "no" : String(count);
  return `${number} ${kind}${count > 1 ? "s" : ""} ${inPlace(kind, place)}`;
}

function one(kind: Effect["kind"]): string {
  return kind === "item" || kind === "object" ? `an ${kind}` : `a ${kind}`;
}

function inPlace(kind: Effect["kind"], place: string): string {
  return kind === "call" ? `of ${place}` : `in ${place}`;
}
