/** Everything that may happen next in a state: one step is one request, one end of a handler, one fault, or one tick. */
import { isSaga, longAgo, type Model, requestTicks } from "./bounds.ts";
import { type Invariant, Watch } from "./invariants.ts";
import { deleteByTtl, resolve } from "./model-store.ts";
import { apply, nameOf } from "./requests.ts";
import { type Emit, senderSteps } from "./sender-steps.ts";
import {
  freshToken,
  IDLE_WORKER,
  isOpen,
  isUnsent,
  type ModelState,
  NEVER,
  type Slot,
  type Ticks,
  type Worker,
  withSlot,
} from "./state.ts";
import { workerSteps } from "./worker-steps.ts";

export interface Step {
  readonly label: string;
  readonly next: ModelState;
  readonly broken: readonly Invariant[];
  readonly moves: readonly string[];
  readonly answersItself: boolean;
}

export function stepsFrom(state: ModelState, model: Model): Step[] {
  const steps: Step[] = [];
  const emit: Emit = (label, act) => {
    const watch = new Watch();
    const next = act(watch);
    const { broken, moves, answersItself } = watch;
    steps.push({ label, next, broken, moves, answersItself });
  };
  for (const index of state.workers.keys()) workerSteps(state, index, model, emit);
  for (const index of state.senders.keys()) senderSteps(state, index, model, emit);
  for (const [at, { worker, host, isSpent }] of state.strays.entries()) {
    emit(`a copy that was held up arrives: ${nameOf(worker)}`, (watch) => {
      const rest = { ...state, strays: state.strays.toSpliced(at, 1) };
      const [after] = apply(rest, worker, host, model, watch);
      const isClaim = worker.phase === "claim" || worker.phase === "fence";
      watch.expect(!isSpent || after === rest, isClaim ? "claimsOnce" : "refusedStays");
      return after;
    });
  }
  for (const [key, slot] of state.slots.entries()) {
    // Another caller, or another key's operation.
    if (model.calls.some(({ handler }) => handler === "conditional"))
      emit(slot.isTaken ? "another writer deletes the row" : "another writer inserts the row", () =>
        withSlot(state, key, { ...slot, isTaken: !slot.isTaken }),
      );
    if ((slot.record?.expiresIn ?? NEVER) <= 0)
      emit(`TTL deletes the record of key ${key + 1}`, (watch) =>
        withSlot(state, key, deleteByTtl(slot, model, watch)),
      );
    const isOver = slot.record?.state === "held" || (slot.record && slot.record.leaseEndsIn < 0);
    // A saga that can turn back needs no operator.
    const isOpenStep =
      slot.record?.marks.second?.state === "begun" && !model.calls.some(({ handler }) => isSaga(handler));
    const isAsked = model.whenAbandoned || isOpenStep;
    if (isAsked && slot.record && isOpen(slot.record) && isOver)
      emit(`an operator resolves key ${key + 1}`, (watch) =>
        withSlot(state, key, resolve(slot, freshToken(state), model, watch)),
      );
  }
  emit("a tick passes", () => tick(state, model));
  return steps;
}

/** All clocks advance by one. Differences that no request can detect are forgotten: that keeps the states finite. */
function tick(state: ModelState, model: Model): ModelState {
  const floor = longAgo(model);
  const pass = (ticks: Ticks) => (ticks === NEVER ? NEVER : Math.max(floor, ticks - 1));
  const passSlot = ({ record, history, isTaken }: Slot): Slot => ({
    isTaken,
    record: record && {
      ...record,
      leaseEndsIn: record.state === "in-progress" ? pass(record.leaseEndsIn) : record.leaseEndsIn,
      expiresIn: pass(record.expiresIn),
      expiresOnceSentIn: isUnsent(record) ? pass(record.expiresOnceSentIn) : NEVER,
    },
    history: { ...history, protectedFor: Math.max(0, history.protectedFor - 1) },
  });
  return {
    slots: state.slots.map(passSlot),
    workers: state.workers.map((worker) => passWorker(worker, model)),
    strays: state.strays
      .map((stray) => ({ ...stray, worker: passWorker(stray.worker, { ...model, outlives: true }) }))
      .filter(({ worker }) => worker.phase !== "idle"),
    senders: state.senders,
  };
}

/** At its deadline a worker is killed. One that may outlive it goes on, but its requests are not delayed for ever. */
function passWorker(worker: Worker, model: Model): Worker {
  if (worker.phase === "idle") return worker;
  if (!model.outlives && worker.left <= 0 && model.without !== "stopUnrenewed") return IDLE_WORKER;
  const left = Math.max(worker.left - 1, floorOfLeft(worker, model));
  const seen =
    worker.seen?.state === "in-progress"
      ? { ...worker.seen, leaseEndsIn: Math.max(longAgo(model), worker.seen.leaseEndsIn - 1) }
      : worker.seen;
  const isHandler = ["run", "orphan", "verify"].includes(worker.phase);
  if (isHandler) return { ...worker, left, seen };
  if (worker.age >= requestTicks(model)) return IDLE_WORKER;
  return { ...worker, left, seen, age: worker.age + 1 };
}

/** From here on it makes no difference how long the deadline is past. */
function floorOfLeft({ phase, mode }: Worker, model: Model): Ticks {
  const { retentionTicks, graceTicks, workTicks, hosts } = model;
  if (phase === "claim" || phase === "fence")
    return longAgo(model) - Math.max(...hosts) - graceTicks - retentionTicks;
  return mode === "optimistic" ? Math.min(-1, workTicks - retentionTicks) : -1;
}
