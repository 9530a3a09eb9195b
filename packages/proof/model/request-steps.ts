/** One request of a worker: answered, or applied with its answer lost; before either, a copy may be held up on its way. */
import { answerUnrecorded } from "./answers.ts";
import type { Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { apply, nameOf } from "./requests.ts";
import {
  IDLE_WORKER,
  type ModelState,
  type Slot,
  type Stray,
  type Ticks,
  type Worker,
  withWorker,
} from "./state.ts";
import type { StoreAnswer } from "./step-store.ts";

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
  /** The call is over. */
  readonly stop: (slot?: Slot) => ModelState;
}

export interface WorkerTurn extends Turn {
  readonly index: number;
}

export function request(
  { state, index, worker, host, model, offer }: WorkerTurn,
  answered: (answer: StoreAnswer, after: ModelState, watch: Watch) => ModelState,
): void {
  const what = nameOf(worker);
  const repeats = (after: ModelState) =>
    isInDoubt(worker) ? withWorker(after, index, { ...worker, isRepeated: true }) : after;
  offer(what, (watch) => {
    const [after, answer] = apply(state, worker, host, model, watch);
    return answered(answer, after, watch);
  });
  offer(`${what}; the answer is lost`, (watch) => repeats(apply(state, worker, host, model, watch)[0]));
  if (state.strays.length < model.strays)
    offer(`${what}; a copy is held up`, () =>
      repeats({ ...state, strays: [...state.strays, copyOf(worker, host)] }),
    );
}

/** The request's content, without any other state of its worker. */
function copyOf(
  { phase, mode, key, payload, token, handler, to, seen, age, left, marks, step, write }: Worker,
  host: Ticks,
): Stray {
  const isClaim = phase === "claim" || phase === "fence";
  const steps = phase === "mark" ? { step, write } : { marks };
  const request = isClaim ? { phase, left } : { phase, left: -age, handler, to, ...steps };
  const isHeld = phase === "fence" && mode === "claimed";
  const about = { key, payload, token, seen, age, mode: isHeld ? mode : "optimistic" } as const;
  return { worker: { ...IDLE_WORKER, ...about, ...request }, host, isSpent: false };
}

/** Only of a commit that its own condition may refuse is it asked whether an earlier try may still be applied. */
const isInDoubt = ({ phase, handler, to, isRepeated }: Worker) =>
  (phase === "settle" || phase === "insert") &&
  handler === "conditional" &&
  to === "completed" &&
  !isRepeated;

/**
 * No other handler can have run under a live claim, so its answer counts even if the store can't be reached. With
 * clocks too far apart it is unknown whether the claim is live.
 */
export function blindSteps(
  { slot, worker, model, offer }: WorkerTurn,
  end: (after: Slot) => ModelState,
): void {
  const isLate = model.without === "liveAnswer" && worker.mode === "claimed";
  if (!worker.endedLive && !isLate) return;
  offer("cannot reach the store, and gives its own answer", (watch) =>
    end(answerUnrecorded(slot, worker, watch)),
  );
}
