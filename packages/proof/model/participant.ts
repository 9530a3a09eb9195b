/** The other side of a saga (lib/saga/participant.ts): a step and its compensation meet there, in whatever order they come. */
import type { Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { type Effect, type Effects, type MarkName, placeOf } from "./marks.ts";
import type { Slot } from "./state.ts";

export function participate(slot: Slot, name: MarkName, model: Model, watch: Watch): Slot {
  const { history, record } = slot;
  const place = placeOf(name);
  const there = history.effects[place];
  const undoes = name.startsWith("undo");
  const now = undoes ? undone(there, model) : done(there, model);
  if (now === undefined) return slot;
  if (undoes) {
    const isPivotDone = model.calls.some(({ handler }) => handler.endsWith("pivot"));
    watch.expect(!isPivotDone || !history.passed.includes("first"), "pivotStays");
    watch.expect(place === 1 || history.effects[1] !== "done", "undoneInReverse");
    watch.expect(there !== "undone", "onceEach");
  } else {
    watch.expect(there !== "done", "onceEach");
    watch.expect(there === "none" || there === "done", "lateDoesNothing");
  }
  watch.expect(undoes || record?.state !== "failed", "allOrNothing");
  const effects = history.effects.with(place, now) as unknown as Effects;
  return { ...slot, history: { ...history, effects } };
}

/** A request's effect on the step; `undefined` if there is none. */
function done(there: Effect, { without }: Model): Effect | undefined {
  if (there === "done" && without !== "stepKey") return undefined;
  if (there === "undone" && without !== "undoneStays") return undefined;
  if (there === "canceled" && without !== "cancelStays") return undefined;
  return "done";
}

function undone(there: Effect, { without }: Model): Effect | undefined {
  if (there === "canceled" || (there === "undone" && without !== "undoKey")) return undefined;
  return there === "none" ? "canceled" : "undone";
}
