/** How a running handler may continue. An effect in another system happens immediately and can't be undone. */
import { answerUnrecorded, checkUnrecorded } from "./answers.ts";
import { hasSteps, isSaga, mayOverlap } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { markedSteps } from "./mark-steps.ts";
import { settle } from "./model-store.ts";
import type { Turn } from "./request-steps.ts";
import { finishOf } from "./requests.ts";
import { sagaSteps } from "./saga-steps.ts";
import { type ModelState, NEVER, type Slot, type Worker, withSlot } from "./state.ts";

export function handlerSteps(turn: Turn): void {
  const { worker, offer, become } = turn;
  if (hasSteps(worker.handler)) {
    if (isSaga(worker.handler)) sagaSteps(turn);
    else markedSteps(turn);
    return;
  }
  const phase = worker.mode === "optimistic" ? "insert" : "settle";
  if (worker.handler === "outside") outsideSteps(turn);
  else commitSteps(turn, phase);
  offer("fails for good", () => become({ phase, to: "failed" }));
  offer("fails before its effect", (watch) => endUnrecorded(turn, false, watch));
}

/** A claim is released; without one there is nothing to release. */
function endUnrecorded(turn: Turn, returns: boolean, watch: Watch): ModelState {
  const { slot, worker, model, become, stop } = turn;
  if (worker.mode === "claimed")
    return become({ phase: "settle", to: "released", returns, endedLive: endsLive(turn, returns, watch) });
  if (model.without === "lookAtTheEnd") return stop(answerUnrecorded(slot, { ...worker, returns }, watch));
  return become({ phase: "check", to: "released", returns });
}

/** Whether no other handler can have run so far, under this worker's claim. With clocks too far apart that is unknown. */
function endsLive({ slot, worker, host, model }: Turn, returns: boolean, watch: Watch): boolean {
  const { hosts, graceTicks } = model;
  const { record } = slot;
  const isOwn = record?.token === worker.token && record.state === "in-progress";
  const liveFor = isOwn ? record.leaseEndsIn - graceTicks - host : worker.left;
  if (liveFor < 0 || Math.max(...hosts) - Math.min(...hosts) > graceTicks) return false;
  checkUnrecorded(slot, { ...worker, returns }, watch);
  return true;
}

function commitSteps(turn: Turn, phase: Worker["phase"]): void {
  const { state, slot, worker, model, offer, become } = turn;
  offer("makes its commit", () => become({ phase, to: "completed" }));
  if (worker.handler === "conditional" && slot.isTaken)
    offer("finds the row there, and returns that", (watch) => endUnrecorded(turn, true, watch));
  if (worker.wasRefused)
    offer("makes another commit, without a condition", () =>
      become({ phase, to: "completed", handler: "commit", wasRefused: false }),
    );
  const { record } = slot;
  if (model.without !== "messagesInCommit" || record?.token !== worker.token) return;
  offer("stores its messages ahead of the commit", () => {
    const ahead = { ...record, expiresOnceSentIn: record.expiresIn, expiresIn: NEVER };
    return become({}, withSlot(state, worker.key, { ...slot, record: ahead }));
  });
}

function outsideSteps(turn: Turn): void {
  const { state, worker, host, model, offer, become } = turn;
  offer("has its effect", (watch) => become({ phase: "settle", to: "completed" }, effect(turn, watch)));
  offer("has its effect, then fails", (watch) => {
    const after = effect(turn, watch);
    const slot = after.slots[worker.key] as Slot;
    // A handler that fails allows another run.
    const forgiven = { ...slot, history: { ...slot.history, ran: false } };
    const endedLive = endsLive(turn, false, watch);
    return become({ phase: "settle", to: "released", endedLive }, withSlot(after, worker.key, forgiven));
  });
  if (model.whenAbandoned) {
    const to = model.without === "unknownHolds" ? "released" : "held";
    const ends = (after?: ModelState) => become({ phase: "settle", to }, after);
    offer("has its effect, and does not know it", (watch) => ends(effect(turn, watch)));
    offer("does not know whether it has its effect, which it has not", () => ends());
  }
  if (worker.left > 0) return;
  offer("is aborted near its deadline, and works on", (watch) => {
    if (model.without === "lookAfterAbort") {
      answerUnrecorded(turn.slot, worker, watch);
      return become({ phase: "orphan" });
    }
    if (model.without !== "keepAfterAbort")
      return become({ phase: "check", endedLive: endsLive(turn, false, watch) });
    const release = finishOf({ ...worker, to: "released" }, host, model);
    const [released] = settle(turn.slot, release, model, watch);
    return become({ phase: "orphan" }, withSlot(state, worker.key, released));
  });
}

/** An effect in another system. */
export function effect({ state, slot, worker, model }: Omit<Turn, "become">, watch: Watch): ModelState {
  const { record, history } = slot;
  // This attempt's lease has ended, and it keeps working: the one edge at which effects of two attempts may overlap.
  if (mayOverlap(model) && record?.token !== worker.token) return state;
  watch.expect(!history.ran, "runsExcused");
  return withSlot(state, worker.key, { ...slot, history: { ...history, ran: true } });
}
