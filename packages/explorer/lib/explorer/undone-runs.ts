/** Assesses runs that a saga has undone: each compensation happens once, whatever has made the saga turn back. Pure. */
import { compareEffects, countOf } from "./compare-effects.ts";
import type { Effect } from "./effect.ts";
import { type Assessment, assessAlike, assessConduct } from "./oracles.ts";
import type { Play } from "./play.ts";
import type { ReferenceRun } from "./reference-run.ts";
import { undoingPlaces } from "./saga-runs.ts";
import { placeOf } from "./volatile-values.ts";

/** @param like a run in which the same saga turned back at the same step: only such a run shows which effects are due */
export function assessUndone(run: Play, like: Play, reference: ReferenceRun): Assessment[] {
  return [
    ...assessEffects(run, run.effects, like, reference),
    ...assessEffects(run, run.effectsAfterwards, run, reference),
    ...assessEnd(run),
    ...assessAlike(run, reference),
    ...assessConduct(run, reference),
  ];
}

function assessEffects(run: Play, found: readonly Effect[], like: Play, { play, volatile }: ReferenceRun) {
  const countAt = (effects: readonly Effect[], effect: Effect) =>
    effects.filter((each) => placeOf(each) === placeOf(effect)).length;
  const undoing = undoingPlaces(like.ios);
  const places = new Map([...like.effects, ...found].map((effect) => [placeOf(effect), effect]));
  const counted = [...places.values()].flatMap((effect): Assessment[] => {
    const { kind, place } = effect;
    const [count, due, done] = [found, like.effects, play.effects].map((all) => countAt(all, effect)) as [
      number,
      number,
      number,
    ];
    const most = Math.max(due, done);
    const what = `${countOf(count, effect)} instead of ${count > most ? most || "none" : due}`;
    if (count > most) return [{ kind: "happens-twice", what, effect: { kind, place } }];
    // A failed effect may not have happened; it must be undone anyway.
    const isLost = undoing.has(place) && count < due && run.held.length === 0;
    return isLost ? [{ kind: "lost", what, effect: { kind, place } }] : [];
  });
  const moved = compareEffects(like.effects, found, volatile, play.before).filter(
    ({ kind, isMoved, effect }) => kind === "happens-twice" && isMoved && effect.kind === "item",
  );
  return [...counted, ...moved];
}

/** Each caller is informed that everything is undone, unless a key is held. */
function assessEnd({ last, repeated, held }: Play): Assessment[] {
  const isEnd = repeated?.isSuccess || (last !== undefined && last.words === repeated?.words);
  if (held.length > 0 || last?.isSuccess || isEnd) return [];
  return [
    {
      kind: "stuck",
      what: `a saga was compensated, but the call ends with "${last?.words ?? "no response"}"`,
    },
  ];
}
