/** Assesses a run: finds every broken promise, compared with an undisturbed run. Pure. */
import { compareEffects, type Difference } from "./compare-effects.ts";
import { type Effect, leavesOf } from "./effect.ts";
import type { FindingKind } from "./finding.ts";
import { groupOrders } from "./group-orders.ts";
import { canonicalText, type Plain } from "./plain-value.ts";
import type { Play } from "./play.ts";
import { answerObserved, mostRequests, observedIn, type ReferenceRun } from "./reference-run.ts";
import { danglingIn } from "./references.ts";
import { madeEffects } from "./undisturbed-words.ts";

export interface Assessment {
  readonly kind: FindingKind;
  readonly what: string;
  readonly effect?: Pick<Effect, "kind" | "place"> | undefined;
  /** Whether all effects happened nevertheless. */
  readonly isDone?: boolean | undefined;
  /** Whether some of them did. */
  readonly isHalfDone?: boolean | undefined;
}

export function assess(run: Play, reference: ReferenceRun): Assessment[] {
  const assessments = [
    ...assessEffects(run, reference),
    ...assessProgress(run, reference),
    ...assessAnswers(run, reference),
    ...assessOrder(run, reference),
    ...assessConduct(run, reference),
  ];
  const isSuccessful = run.last?.isSuccess === true;
  // An effect may be missing while no success was reported: then the run is stuck, which is a finding of
  // its own.
  return assessments.filter(({ kind }) => isSuccessful || (kind !== "lost" && kind !== "dangling"));
}

/** Compares at the moment of the source's success: a later repetition may heal the run, but need not come. */
function assessEffects(run: Play, { play, volatile, references }: ReferenceRun): Assessment[] {
  const differences = compareEffects(play.effects, run.effects, volatile, play.before);
  const afterwards = compareEffects(run.effects, run.effectsAfterwards, volatile, play.before);
  const isHealed = (kind: FindingKind) =>
    kind === "happens-twice" && differences.some((each) => each.kind === "lost");
  const isReported = ({ kind, effect: { place } }: Difference) =>
    differences.some((each) => each.kind === kind && each.effect.place === place);
  const all = [...differences, ...afterwards.filter((each) => !isHealed(each.kind) && !isReported(each))];
  if (all.length > 0) return all;
  const [first] = danglingIn(observedIn(run), references);
  return first === undefined ? [] : [{ kind: "dangling", what: first }];
}

function assessProgress(
  { last, repeated, tookMs, before, effects, held }: Play,
  { play, volatile }: ReferenceRun,
): Assessment[] {
  // The refusals are meant: a person decides about a held key.
  if (held.length > 0) return [];
  const isDone = effects.length > 0 && compareEffects(play.effects, effects, volatile).length === 0;
  if (last?.isSuccess !== true) {
    const seconds = Math.round(tookMs / 1000);
    const isHalfDone = !isDone && madeEffects({ before, effects }).length > 0;
    const what = `after ${seconds} s it still ends with "${last?.words ?? "no response"}"`;
    return [{ kind: "stuck", what, isDone, isHalfDone }];
  }
  if (repeated === undefined || repeated.isSuccess) return [];
  return [{ kind: "stuck", what: `after it's done, a repetition gets "${repeated.words}"`, isDone: true }];
}

function assessAnswers(run: Play, reference: ReferenceRun): Assessment[] {
  const unlike = assessAlike(run, reference);
  if (unlike.length > 0) return unlike;
  const [expected] = answersOf(reference.play, reference);
  const [found] = answersOf(run, reference);
  if (expected === undefined || found === undefined || textOf(expected) === textOf(found)) return [];
  return [{ kind: "answer-differs", what: `differs from the undisturbed run: ${changed(expected, found)}` }];
}

/** The answers of one run are the same. */
export function assessAlike(run: Play, reference: ReferenceRun): Assessment[] {
  const successful = run.answers.filter(({ isSuccess }) => isSuccess);
  const [first, ...others] = successful
    .flatMap(answerObserved)
    .map((each) => reference.volatile.maskIgnored(each));
  if (first === undefined) return [];
  const other = others.find((content) => textOf(content) !== textOf(first));
  if (other === undefined) return [];
  return [
    { kind: "answer-differs", what: `a later response differs from the first: ${changed(first, other)}` },
  ];
}

function answersOf({ answers }: Play, { volatile }: ReferenceRun): Plain[] {
  return answers
    .filter(({ isSuccess }) => isSuccess)
    .flatMap(answerObserved)
    .map((observed) => volatile.mask(observed));
}

function assessOrder(run: Play, reference: ReferenceRun): Assessment[] {
  const [broken] = run.answers.flatMap(({ broken = [] }) => broken);
  if (broken !== undefined) return [broken];
  const expected = groupOrders(reference.play.effects, reference.volatile);
  const found = groupOrders(run.effects, reference.volatile);
  const moved = [...expected].find(
    ([place, orders]) =>
      orders.length === found.get(place)?.length && textOf(orders) !== textOf(found.get(place)),
  );
  return moved
    ? [{ kind: "order", what: `the messages of a group in ${moved[0]} are in a different order` }]
    : [];
}

export function assessConduct(run: Play, { maxRequests }: ReferenceRun): Assessment[] {
  const assessments: Assessment[] = [];
  const most = mostRequests(run);
  if (most > maxRequests) assessments.push({ kind: "unbounded", what: `${most} requests in one invocation` });
  // An answer that is a failure leaves everything to the next delivery, and running work to its fences.
  const left = run.unawaited.find(({ invocation }) =>
    run.answers.some((answer) => answer.invocation === invocation && answer.isSuccess),
  );
  if (left !== undefined)
    assessments.push({
      kind: "unawaited",
      what: `${left.label} is still running after the handler returned`,
    });
  const [reused] = run.reusedKeys;
  if (reused !== undefined)
    assessments.push({ kind: "key-reused", what: `${reused} received two different requests under one key` });
  return assessments;
}

function textOf(value: Plain | undefined): string {
  return canonicalText(value ?? null);
}

/** The first difference between two answers. */
function changed(left: Plain, right: Plain): string {
  const [wanted, got] = [left, right].map((value) => leavesOf(value));
  for (const { path } of [...(wanted ?? []), ...(got ?? [])]) {
    const [before, after] = [wanted, got].map((leaves) => {
      const values = leaves?.filter((leaf) => leaf.path === path).map(({ value }) => JSON.stringify(value));
      return values?.length ? values.sort().join(" and ") : "absent";
    });
    if (before !== after) return `${path || "the value"} ${before}, then ${after}`;
  }
  return "the order of a list";
}
