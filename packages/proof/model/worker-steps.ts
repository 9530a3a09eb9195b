/**
 * What a worker may do next: the engine (core/engine.ts) with one request per step. Any request may be applied and its
 * answer lost. The worker is then in the same state, and may send the same messages again (the SDK's retry, or ours), or stop.
 * A request that never arrives changes nothing, and isn't a step.
 */
import { checkAlone, claimantOf, claimed, readEnd, readRecord } from "./answers.ts";
import type { CallKind, Model } from "./bounds.ts";
import { fenceSteps, finishSteps } from "./finish-steps.ts";
import { effect, handlerSteps } from "./handler-steps.ts";
import { markSteps } from "./mark-steps.ts";
import { statusOf } from "./model-store.ts";
import { renewalSteps } from "./renewal-steps.ts";
import { blindSteps, request, type WorkerTurn } from "./request-steps.ts";
import { nameOf } from "./requests.ts";
import type { Emit } from "./sender-steps.ts";
import {
  freshToken,
  IDLE_WORKER,
  type ModelState,
  type Phase,
  type Slot,
  type Worker,
  withSlot,
  withWorker,
} from "./state.ts";

const STEPS: Readonly<Record<Phase, (turn: WorkerTurn) => void>> = {
  idle: callSteps,
  look: lookSteps,
  claim: claimSteps,
  run: (turn) => {
    handlerSteps(turn);
    renewalSteps(turn);
  },
  settle: finishSteps,
  insert: finishSteps,
  fence: fenceSteps,
  check: checkSteps,
  orphan: orphanSteps,
  renew: () => {},
  verify: verifySteps,
  mark: markSteps,
  ask: () => {},
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
    become: (change, after = state) =>
      withWorker(after, index, {
        ...worker,
        age: 0,
        isRepeated: false,
        wasRefused: false,
        endedLive: false,
        ...change,
      }),
    stop: (slot) => withWorker(slot ? withSlot(state, worker.key, slot) : state, index, IDLE_WORKER),
  };
  if (worker.phase !== "idle") turn.offer("stops: it crashes, is killed, or gives up", () => turn.stop());
  STEPS[worker.phase](turn);
}

function callSteps({ state, index, model, offer }: WorkerTurn): void {
  const { calls, keys, payloads, workTicks } = model;
  // Without the rule, the same for every call of a host.
  const token = model.without === "freshToken" ? index + 1 : freshToken(state);
  const start = (call: CallKind, key: number, payload: number) => {
    const about = [call.mode, call.handler, `key ${key + 1}`, payload > 0 && "other payload"];
    offer(`is called (${about.filter(Boolean).join(", ")})`, () => {
      const phase = call.mode === "optimistic" ? "look" : "claim";
      const begun = { ...IDLE_WORKER, ...call, phase, key, payload, token, left: workTicks } as const;
      return withWorker(state, index, begun);
    });
  };
  for (const call of calls)
    for (let key = 0; key < keys; key++)
      for (let payload = 0; payload < payloads; payload++) start(call, key, payload);
}

function lookSteps({ slot, worker, host, model, offer, become, stop }: WorkerTurn): void {
  offer("looks, and sees no record: there is none, the read is stale, or it does not look", () =>
    become({ phase: "run" }),
  );
  if (!slot.record) return;
  offer("looks", (watch) => {
    const reading = readRecord(slot, worker, host, model, watch);
    return reading.goesOn ? become(reading.goesOn) : stop(reading.slot);
  });
}

function claimSteps(turn: WorkerTurn): void {
  const { state, index, slot, worker, host, model, offer, become, stop } = turn;
  // Its lease would end before the work does: the time of the request is what counts.
  if (worker.left + worker.age < 0 && model.without !== "timelyClaim") return;
  request(turn, (answer, after, watch) => {
    const isWon = answer === "done";
    if (isWon) checkAlone(state, slot, index, model, watch);
    if (isWon) return become(claimed(worker, model), after);
    const reading = readRecord(slot, worker, host, model, watch);
    return reading.goesOn ? become(reading.goesOn) : stop(reading.slot);
  });
  // Its polls read what the next claim, which is refused, learns.
  if (slot.record && statusOf(slot.record, claimantOf(worker, host), model) === "in-progress")
    offer(`${nameOf(worker)}, is refused, and waits for the winner`, () => become({ seen: undefined }));
  if (worker.mode !== "fail-open" || worker.seen) return;
  offer("cannot reach the store, and runs all the same", () => become({ phase: "run", mode: "optimistic" }));
}

/** A look before the worker's own answer counts: without a claim, or after an abort. */
function checkSteps(turn: WorkerTurn): void {
  const { state, slot, worker, host, model, offer, become, stop } = turn;
  const isAborted = worker.mode === "claimed";
  const end = (after: Slot) =>
    isAborted ? become({ phase: "orphan" }, withSlot(state, worker.key, after)) : stop(after);
  offer("looks before its answer counts", (watch) => {
    const { record } = slot;
    // One of its own claims may exist, with all its responses lost.
    const isOwn = record?.token === worker.token && record.state === "in-progress";
    if (isOwn && !isAborted) return become({ phase: "settle", to: "released" });
    return end(readEnd(slot, worker, host, model, watch));
  });
  if (isAborted) blindSteps(turn, end);
}

/** Like `settleAbandoned` in core/abandoned.ts. The operator's answer is either true or "unknown". */
function verifySteps({ slot, model, offer, become }: WorkerTurn): void {
  const held = () => become({ phase: "settle", to: "held" });
  if (model.without === "openKeepsClaim")
    offer("has no time left, and gives the key back", () => become({ phase: "settle", to: "released" }));
  offer(model.whenAbandoned === "hold" ? "holds the key" : "asks, and the outcome is unknown", held);
  if (model.whenAbandoned === "hold") return;
  if (slot.history.ran)
    offer("asks, and the effect happened", () =>
      become({ phase: "settle", to: "completed", handler: "outside" }),
    );
  else offer("asks, and nothing happened", () => become({ phase: "run" }));
}

function orphanSteps(turn: WorkerTurn): void {
  turn.offer("has its effect after the abort", (watch) =>
    withWorker(effect(turn, watch), turn.index, IDLE_WORKER),
  );
}
