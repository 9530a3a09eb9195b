/** How a worker records the end of its attempt: settlements, insertions, and the fence around a refused commit. */
import { checkAlone, claimantOf, readEnd, readLoss, replay } from "./answers.ts";
import type { Watch } from "./invariants.ts";
import { isVacant } from "./model-store.ts";
import { blindSteps, request, type WorkerTurn } from "./request-steps.ts";
import { tellRefusal } from "./requests.ts";
import {
  freshToken,
  type ModelRecord,
  type ModelState,
  NO_TOKEN,
  type Slot,
  seenOf,
  type Worker,
} from "./state.ts";

export function finishSteps(turn: WorkerTurn): void {
  const { slot, worker, host, model, offer, become, stop } = turn;
  // Who finished since its call began may be forgotten by then.
  if (worker.phase === "insert" && model.workTicks - worker.left >= model.retentionTicks) return;
  request(turn, (answer, after, watch) => {
    if (answer === "condition") return refused(turn, after, watch);
    const settled = after.slots[worker.key] as Slot;
    if (worker.to === "released") return stop(readEnd(settled, worker, host, model, watch));
    if (answer === "done" && worker.to === "held") return stop(settled);
    if (answer === "done") return stop(replay(settled, settled.record as ModelRecord, worker, watch));
    const reading = readLoss(slot, worker, host, model, watch);
    if (!reading.goesOn) return stop(reading.slot);
    // Another insertion with the same arguments.
    const isRepeated = worker.handler === "conditional" && model.without !== "fenceRaces";
    return become({ age: worker.age, isRepeated, ...reading.goesOn });
  });
  if (worker.to === "released") blindSteps(turn, stop);
  if (model.without === "keepAfterLoss" && worker.handler === "outside" && worker.to === "completed")
    offer("gives up its completion, and releases", () => become({ to: "released" }));
}

/** The commit's own condition is not met. The handler learns it once no other try of the commit can be applied. */
function refused(
  { state, worker, slot, host, model, become }: WorkerTurn,
  after: ModelState,
  watch: Watch,
): ModelState {
  const { without } = model;
  const { token } = worker;
  if (!worker.isRepeated || without === "fence")
    return become({ phase: "run", ...AGAIN }, tellRefusal(after, worker, token, watch));
  const seen = worker.mode === "claimed" ? seenOf(slot.record as ModelRecord, host) : worker.seen;
  const fresh = without === "fenceToken" ? token : freshToken(state);
  return become({ phase: "fence", former: token, token: fresh, seen }, after);
}

/** The handler goes on. */
const AGAIN = { to: "completed", returns: false, wasRefused: true } as const;

export function fenceSteps(turn: WorkerTurn): void {
  const { state, index, slot, worker, host, model, become, stop } = turn;
  const { former, mode } = worker;
  const isHeld = mode === "claimed";
  request(turn, (answer, after, watch) => {
    const goOn = (change: Partial<Worker>) =>
      become(
        { phase: "run", ...AGAIN, former: NO_TOKEN, ...change },
        tellRefusal(after, worker, former, watch),
      );
    const { record } = slot;
    const isMine = record?.token === worker.token && record.state === "in-progress";
    if (answer === "done") checkAlone(state, slot, index, model, watch);
    if (answer === "done" || isMine) return goOn({ mode: "claimed", seen: undefined });
    const isFormer = record?.token === former;
    if (record && isFormer && record.state !== "in-progress" && model.without !== "fenceSees")
      return stop(replay(slot, record, worker, watch));
    // A renewal came between.
    const isRenewed = isHeld && isFormer && record?.state === "in-progress";
    if (isRenewed || (!isHeld && (!record || isFormer || isVacant(record, claimantOf(worker, host), model))))
      return become({ seen: record && seenOf(record, host) });
    // Another caller has the key: the commit can't be applied either.
    if (!isHeld && record?.state === "in-progress") return goOn({});
    const reading = readLoss(slot, worker, host, model, watch);
    return reading.goesOn ? become(reading.goesOn) : stop(reading.slot);
  });
}
