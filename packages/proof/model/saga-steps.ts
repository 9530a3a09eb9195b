/** A handler that is a saga of two steps: lib/saga/saga-run.ts with one request per step. */
import { mayOverlap } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { record, settleOpen } from "./mark-steps.ts";
import { isSameMark, type MarkName, markOf } from "./marks.ts";
import type { Turn } from "./request-steps.ts";
import { apply, nameOf } from "./requests.ts";
import { IDLE_WORKER, type ModelState, type Worker } from "./state.ts";

const STEPS = ["first", "second"] as const;

export function sagaSteps(turn: Turn): void {
  const { worker, offer, become, model } = turn;
  const { marks, step, handler, token } = worker;
  const turned = marks["turned back"];
  if (turned) {
    goBack(turn, turned.count);
    return;
  }
  if (step === "stopped") {
    offer("stops after its pivot", () => settleOpen(turn));
    return;
  }
  const at = STEPS.findIndex((name) => marks[name]?.state !== "done");
  const next = STEPS[at];
  if (!next) {
    offer("has done its saga", () => become({ phase: "settle", to: "completed" }));
    return;
  }
  if (handler === "saga at most once" && next === "second" && step !== "second") {
    if (marks.second?.state === "begun")
      offer('doesn\'t know how "second" ended, and turns back', () =>
        record(turn, "turned back", "done", undefined, at + 1),
      );
    else offer('writes down that "second" begins', () => record(turn, "second", "begun"));
    return;
  }
  askFor(turn, next);
  offer(`stays before "${next}": a retry may go on`, () => settleOpen(turn));
  const isBehindPivot = handler === "saga with a pivot" && at > 0 && model.without !== "pivotForward";
  const count = model.without === "undoesUnknown" ? at : at + 1;
  offer(`fails at "${next}"`, () => {
    if (isBehindPivot) return begin(turn, "stopped");
    if (model.without !== "turnRecorded") return record(turn, "turned back", "done", undefined, count);
    return become({ marks: { ...marks, "turned back": markOf(marks, token, { state: "done", count }) } });
  });
}

function goBack(turn: Turn, count: number): void {
  const { worker, model, offer, become } = turn;
  const { marks, step } = worker;
  const behind = STEPS.slice(0, count).map((name) => `undo ${name}` as const);
  if (model.without !== "undoesReverse") behind.reverse();
  const next = behind.find((name) => marks[name]?.state !== "done");
  if (!next) {
    offer("has undone its saga", () => become({ phase: "settle", to: "failed" }));
    return;
  }
  if (step !== next) {
    offer(`turns to "${next}"`, () => begin(turn, next));
    offer(`gives up before "${next}"`, () => settleOpen(turn));
    return;
  }
  askFor(turn, next);
  offer(`fails at "${next}"`, () => settleOpen(turn));
}

/** A step that was interrupted before is known to run again. */
function begin(turn: Turn, name: MarkName): ModelState {
  const isOpen = turn.worker.marks[name]?.state === "begun";
  return record(turn, name, isOpen ? "undone" : "begun");
}

/** A request to another system. Without an answer it is repeated, or counts as failed. */
function askFor(turn: Turn, name: MarkName): void {
  const { state, slot, worker, host, model, offer } = turn;
  const { key, token, handler, marks } = worker;
  const isOverlap = mayOverlap(model) && slot.record?.token !== token;
  // The operation that it works on has ended, or its key has expired: other systems remember keys for as long.
  const isGone = (["first", "turned back"] as const).some(
    (known) => marks[known] && !isSameMark(slot.record?.marks[known], marks[known]),
  );
  if (isOverlap && isGone) return;
  const asking: Worker = { ...IDLE_WORKER, phase: "ask", key, token, handler, step: name };
  const what = nameOf(asking);
  const ask = (watch: Watch) => {
    watch.expect(isOverlap || !slot.history.passed.includes(name), "stepsSkipped");
    return apply(state, asking, host, model, watch)[0];
  };
  offer(what, (watch) => record(turn, name, "done", ask(watch)));
  offer(`${what}; the answer is lost`, ask);
  if (state.strays.length < model.strays)
    offer(`${what}; a copy is held up`, () => ({
      ...state,
      strays: [...state.strays, { worker: asking, host, isSpent: false }],
    }));
}
