/**
 * What a worker may do next: the engine (core/engine.ts) with one request per step. Any request may be applied and its
 * answer lost: the worker then stands where it stood, and may send the same again (the SDK's retry, or ours), or stop.
 * A request that never arrives changes nothing, and is no step.
 */
import { checkAlone, readLoss, readRecord, replay } from "./answers.ts";
import type { CallKind, Model } from "./bounds.ts";
import { effect, handlerSteps, type Turn } from "./handler-steps.ts";
import type { Watch } from "./invariants.ts";
import { refusalOf } from "./model-store.ts";
import { apply, beginOf, nameOf } from "./requests.ts";
import {
  freshToken,
  IDLE_WORKER,
  type ModelRecord,
  type ModelState,
  NO_TOKEN,
  type Slot,
  type Worker,
  withSlot,
  withWorker,
} from "./state.ts";
import type { Emit } from "./steps.ts";

type WorkerTurn = Turn & {
  readonly index: number;
  readonly stop: (slot?: Slot) => ModelState;
};

export function workerSteps(state: ModelState, index: number, model: Model, emit: Emit): void {
  const worker = state.workers[index] as Worker;
  const turn: WorkerTurn = {
    state,
    index,
    model,
    worker,
    slot: state.slots[worker.key] as Slot,
    host: model.hosts[index] as number,
    offer: (what, act) => emit(`worker ${index + 1} ${what}`, act),
    become: (change, after = state) => withWorker(after, index, { ...worker, age: 0, ...change }),
    stop: (slot) => withWorker(slot ? withSlot(state, worker.key, slot) : state, index, IDLE_WORKER),
  };
  if (worker.phase !== "idle") turn.offer("stops: it crashes, is killed, or gives up", () => turn.stop());
  if (worker.phase === "idle") callSteps(turn);
  else if (worker.phase === "look") lookSteps(turn);
  else if (worker.phase === "claim") claimSteps(turn);
  else if (worker.phase === "run") handlerSteps(turn);
  else if (worker.phase === "orphan")
    turn.offer("has its effect after the abort", (watch) =>
      withWorker(effect(turn, watch), index, IDLE_WORKER),
    );
  else finishSteps(turn);
}

function callSteps({ state, index, model, offer }: WorkerTurn): void {
  const { calls, keys, payloads, workTicks } = model;
  // Without the rule, the same for every call of a host.
  const token = model.without === "freshToken" ? index + 1 : freshToken(state);
  const start = (call: CallKind, key: number, payload: number) => {
    const about = [call.mode, call.handler, `key ${key + 1}`, payload > 0 && "other payload"];
    offer(`is called (${about.filter(Boolean).join(", ")})`, () => {
      const phase = call.mode === "optimistic" ? "look" : "claim";
      return withWorker(state, index, {
        ...IDLE_WORKER,
        ...call,
        phase,
        key,
        payload,
        token,
        left: workTicks,
      });
    });
  };
  for (const call of calls)
    for (let key = 0; key < keys; key++)
      for (let payload = 0; payload < payloads; payload++) start(call, key, payload);
}

function lookSteps(turn: WorkerTurn): void {
  const { slot, worker, host, model, offer, become, stop } = turn;
  offer("looks, and sees no record: there is none, the read is stale, or it does not look", () =>
    become({ phase: "run" }),
  );
  if (!slot.record) return;
  offer("looks", (watch) => {
    const reading = readRecord(slot, worker, beginOf(worker, host, model), model, watch);
    return reading.goesOn ? become(reading.goesOn) : stop(reading.slot);
  });
}

function claimSteps(turn: WorkerTurn): void {
  const { state, index, slot, worker, host, model, offer, become, stop } = turn;
  const begin = beginOf(worker, host, model);
  request(turn, (won, after, watch) => {
    if (won) checkAlone(state, slot, index, model, watch);
    if (won) return become({ phase: "run", mode: "claimed", seen: NO_TOKEN }, after);
    const reading = readRecord(slot, worker, begin, model, watch);
    return reading.goesOn ? become(reading.goesOn) : stop(reading.slot);
  });
  if (slot.record && refusalOf(slot.record, begin, model) === "in-progress")
    offer("claims, is refused, and waits for the winner", () => become({ seen: NO_TOKEN }));
  if (worker.mode !== "fail-open" || worker.seen !== NO_TOKEN) return;
  offer("cannot reach the store, and runs all the same", () => become({ phase: "run", mode: "optimistic" }));
}

function finishSteps(turn: WorkerTurn): void {
  const { slot, worker, host, model, offer, become, stop } = turn;
  // Who finished since its call began may be forgotten by then.
  if (worker.phase === "insert" && model.workTicks - worker.left >= model.retentionTicks) return;
  request(turn, (isSettled, after, watch) => {
    if (!isSettled) {
      const reading = readLoss(slot, worker, beginOf(worker, host, model), model, watch);
      // Another insertion with the same arguments.
      return reading.goesOn ? become({ age: worker.age, ...reading.goesOn }) : stop(reading.slot);
    }
    const settled = after.slots[worker.key] as Slot;
    if (worker.to === "released") return stop(settled);
    return stop(replay(settled, settled.record as ModelRecord, worker, watch));
  });
  if (model.without === "keepAfterLoss" && worker.handler === "outside" && worker.to === "completed")
    offer("gives up its completion, and releases", () => become({ to: "released" }));
}

/** Answered, or applied with its answer lost; before either, a copy of it may be held up on its way. */
function request(
  { state, slot, worker, host, model, offer }: WorkerTurn,
  answered: (isDone: boolean, after: ModelState, watch: Watch) => ModelState,
): void {
  const what = nameOf(worker);
  offer(what, (watch) => {
    const [after, isDone] = apply(slot, worker, host, model, watch);
    return answered(isDone, withSlot(state, worker.key, after), watch);
  });
  offer(`${what}; the answer is lost`, (watch) =>
    withSlot(state, worker.key, apply(slot, worker, host, model, watch)[0]),
  );
  if (state.strays.length < model.strays)
    offer(`${what}; a copy is held up`, () => ({ ...state, strays: [...state.strays, { worker, host }] }));
}
