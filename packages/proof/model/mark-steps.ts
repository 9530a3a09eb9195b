/** A handler with two steps, and how a worker writes one: steps of core (core/steps.ts) in short. */
import { openStepsOf } from "../../../lib/core/record.ts";
import { isSaga, mayOverlap } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { type Effects, type Mark, type MarkName, markOf, placeOf, type StepWrite } from "./marks.ts";
import type { Turn } from "./request-steps.ts";
import { request, type WorkerTurn } from "./request-steps.ts";
import { type ModelState, withSlot } from "./state.ts";
import { withPassed } from "./step-store.ts";

export function markSteps(turn: WorkerTurn): void {
  const { worker, become } = turn;
  const { mark } = worker.write as StepWrite;
  const step = worker.step as MarkName;
  request(turn, (answer, after) => {
    if (answer !== "done") return settleOpen(turn, after);
    const marks = { ...worker.marks, [step]: mark };
    const isAtWork = mark.state === "begun";
    return become({ phase: "run", marks, write: undefined, step: isAtWork ? step : undefined }, after);
  });
}

/** The attempt ends, and is not recorded: a step with an unknown end holds the key. */
export function settleOpen({ worker, become }: Turn, after?: ModelState): ModelState {
  const to = openStepsOf({ steps: worker.marks }).length > 0 ? "held" : "released";
  return become({ phase: "settle", to, write: undefined, step: undefined }, after);
}

export function record(
  { worker, become }: Turn,
  name: MarkName,
  state: Mark["state"],
  after?: ModelState,
  count?: number,
): ModelState {
  const { marks, token, handler } = worker;
  const mark = markOf(marks, token, { state, tracked: isSaga(handler), count });
  return become({ phase: "mark", step: name, write: { mark, seen: marks[name] } }, after);
}

export function markedSteps(turn: Turn): void {
  const { worker, model, offer, become } = turn;
  const { marks, step } = worker;
  if (step === "second") {
    secondAtWork(turn);
    return;
  }
  offer("fails between its steps", () => settleOpen(turn));
  if (marks.first?.state !== "done") {
    offer("runs its first step", (watch) => {
      const after = stepEffect(turn, "first", watch);
      if (model.without !== "stepRecorded") return record(turn, "first", "done", after);
      const mark = markOf(marks, worker.token, { state: "done" });
      return become({ marks: { ...marks, first: mark } }, seesResult(turn, after));
    });
    offer("runs its first step, which fails after its effect", (watch) =>
      settleOpen(turn, stepEffect(turn, "first", watch)),
    );
  } else if (marks.second?.state === "done")
    offer("returns", () => become({ phase: "settle", to: "completed" }));
  else if (marks.second?.state === "begun" && model.without !== "interruptedAsks") askAboutSecond(turn);
  else if (model.without === "intentFirst" || marks.second?.state === "begun")
    offer("begins its second step", () => become({ step: "second" }));
  else offer("writes down that its second step begins", () => record(turn, "second", "begun"));
}

function seesResult({ worker }: Turn, after: ModelState): ModelState {
  const slot = after.slots[worker.key] as Turn["slot"];
  const passed = withPassed(slot.history.passed, "first");
  return withSlot(after, worker.key, { ...slot, history: { ...slot.history, passed } });
}

function secondAtWork(turn: Turn): void {
  const { offer } = turn;
  offer("runs its second step", (watch) => record(turn, "second", "done", stepEffect(turn, "second", watch)));
  offer("runs its second step, which fails after its effect", (watch) =>
    settleOpen(turn, stepEffect(turn, "second", watch)),
  );
  offer("runs its second step, which fails", () => settleOpen(turn));
  offer("runs its second step, which proves that nothing happened", () => record(turn, "second", "undone"));
}

/** The `verify` function answers truthfully, or doesn't know. */
function askAboutSecond(turn: Turn): void {
  const { worker, slot, offer } = turn;
  if (worker.handler === "steps") {
    offer("holds the key, as no system can be asked", () => settleOpen(turn));
    return;
  }
  offer("asks about its second step, and the outcome is unknown", () => settleOpen(turn));
  if (slot.history.effects[1] === "done")
    offer("asks about its second step, and it happened", () => record(turn, "second", "done"));
  else offer("asks about its second step, and nothing happened", () => record(turn, "second", "undone"));
}

function stepEffect({ state, slot, worker, model }: Turn, name: MarkName, watch: Watch): ModelState {
  const { history } = slot;
  // As with other effects: the one edge at which those of two attempts may overlap.
  if (mayOverlap(model) && slot.record?.token !== worker.token) return state;
  watch.expect(!history.passed.includes(name), "stepsSkipped");
  watch.expect(name !== "second" || history.effects[1] !== "done", "stepAtMostOnce");
  const effects = history.effects.with(placeOf(name), "done") as unknown as Effects;
  return withSlot(state, worker.key, { ...slot, history: { ...history, effects } });
}
