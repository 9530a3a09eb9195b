/** How a handler that runs may go on. An effect in somebody else's system happens at once, and nothing takes it back. */
import { type Model, mayOverlap } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { settle } from "./model-store.ts";
import { finishOf } from "./requests.ts";
import { type ModelState, NEVER, type Slot, type Worker, withSlot } from "./state.ts";

export interface Turn {
  readonly state: ModelState;
  readonly slot: Slot;
  readonly worker: Worker;
  readonly host: number;
  readonly model: Model;
  /** Offers a step of this worker. */
  readonly offer: (what: string, act: (watch: Watch) => ModelState) => void;
  /** The worker with another thing to do, and the arguments of a new request. */
  readonly become: (change: Partial<Worker>, after?: ModelState) => ModelState;
}

export function handlerSteps(turn: Turn): void {
  const { worker, offer, become } = turn;
  const phase = worker.mode === "optimistic" ? "insert" : "settle";
  offer("fails for good", () => become({ phase, to: "failed" }));
  // Without a claim there is nothing to release: such a failure is a stop.
  if (phase === "settle") offer("fails before its effect", () => become({ phase, to: "released" }));
  if (worker.handler === "outside") outsideSteps(turn);
  else commitSteps(turn, phase);
}

function commitSteps({ state, slot, worker, model, offer, become }: Turn, phase: Worker["phase"]): void {
  offer("makes its commit", () => become({ phase, to: "completed" }));
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
    const { record, history } = after.slots[worker.key] as Slot;
    // A handler that fails says that it may run again.
    const forgiven = { record, history: { ...history, ran: false } };
    return become({ phase: "settle", to: "released" }, withSlot(after, worker.key, forgiven));
  });
  if (worker.left > 0) return;
  offer("is aborted near its deadline, and works on", (watch) => {
    if (model.without !== "keepAfterAbort") return become({ phase: "orphan" });
    const release = finishOf({ ...worker, to: "released" }, host, model);
    const [released] = settle(turn.slot, release, model, watch);
    return become({ phase: "orphan" }, withSlot(state, worker.key, released));
  });
}

/** An effect in somebody else's system. */
export function effect({ state, slot, worker, model }: Omit<Turn, "become">, watch: Watch): ModelState {
  const { record, history } = slot;
  // The lease of this attempt has ended, and it works on: the one edge where effects of two attempts may overlap.
  if (mayOverlap(model) && record?.token !== worker.token) return state;
  watch.expect(!history.ran, "runsExcused");
  return withSlot(state, worker.key, { record, history: { ...history, ran: true } });
}
