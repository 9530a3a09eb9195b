/** How a worker interprets a record, and what its caller gets: core's claiming, recording, running and rejecting in short. */
import { type Model, mayOverlap } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { NO_MARKS } from "./marks.ts";
import { type ModelClaimant, statusOf } from "./model-store.ts";
import {
  isOpen,
  type ModelRecord,
  type ModelState,
  NO_TOKEN,
  type Slot,
  seenOf,
  type Worker,
} from "./state.ts";

/** The worker goes on, or it has answered and stops. */
export type Reading =
  | { readonly goesOn: Partial<Worker> }
  | { readonly goesOn?: undefined; readonly slot: Slot };

/** By its host's clock, now. */
export const claimantOf = ({ token, payload }: Worker, host: number): ModelClaimant => ({
  token,
  payload,
  now: host,
});

/** Before the handler has run: a refused claim, or a look. */
export function readRecord(slot: Slot, worker: Worker, host: number, model: Model, watch: Watch): Reading {
  const { record } = slot;
  const phase = worker.phase === "look" ? "run" : "claim";
  // A race: gone by now.
  if (!record) return { goesOn: { phase, seen: undefined } };
  const status = statusOf(record, claimantOf(worker, host), model);
  if (status === "own") return { goesOn: { ...claimed(worker, model), marks: record.marks } };
  if (status === "held" && (model.whenAbandoned === "verify" || goesOnByItself(record, model)))
    return { goesOn: { phase, seen: seenOf(record, host) } };
  if (status === "expired" || status === "vacant") return { goesOn: { phase, seen: seenOf(record, host) } };
  if (status === "completed" || status === "failed") return { slot: replay(slot, record, worker, watch) };
  watch.expect(record.token !== worker.token, "ownClaim");
  const isOver = record.state === "released" || record.leaseEndsIn < host;
  watch.expect(status === "mismatch" || status === "held" || !isOver, "notStuck");
  return { slot };
}

/** As `mayClaimHeld` in core/record.ts. */
function goesOnByItself({ marks }: ModelRecord, { without }: Model): boolean {
  const all = Object.values(marks);
  const isOpen = all.some(({ state }) => state === "begun");
  return all.length > 0 && (without !== "heldGoesOn" || !isOpen);
}

/** The claim is won: the handler runs, unless the previous attempt's outcome is unknown. */
export function claimed({ seen }: Worker, { whenAbandoned, without }: Model): Partial<Worker> {
  const isMissed = without === "abandonedAsks" || (without === "heldRefuses" && seen?.state === "held");
  const isAsked = whenAbandoned && !isMissed && seen && isOpen(seen) && !seen.isExpired;
  const marks = seen && !seen.isExpired && without !== "claimKeepsSteps" ? seen.marks : NO_MARKS;
  return { phase: isAsked ? "verify" : "run", mode: "claimed", seen: undefined, marks };
}

/** After the handler has run: its settlement, insertion or fence was refused. */
export function readLoss(slot: Slot, worker: Worker, host: number, model: Model, watch: Watch): Reading {
  const { record } = slot;
  const status = record && statusOf(record, claimantOf(worker, host), model);
  if (worker.phase === "insert") {
    if (record && (status === "expired" || status === "vacant"))
      return { goesOn: { seen: seenOf(record, host) } };
    if (!record && worker.seen) return { goesOn: { seen: undefined } };
  }
  if (record && (status === "completed" || status === "failed"))
    return { slot: replay(slot, record, worker, watch) };
  // The claim is lost: an error that reports it, and that a retry recovers from.
  watch.expect(record?.token !== worker.token || record.state !== worker.to, "ownClaim");
  return { slot };
}

/** A release, or a look at the end: another attempt's recorded result is the answer; without one, the worker's own end is. */
export function readEnd(slot: Slot, worker: Worker, host: number, model: Model, watch: Watch): Slot {
  const { record } = slot;
  const { without } = model;
  const isMine = record?.token === worker.token && ["in-progress", "released"].includes(record.state);
  const isLost = worker.mode === "claimed" && !isMine;
  const status = record && statusOf(record, claimantOf(worker, host), model);
  const isMissed = without === "winnerAnswers" && worker.phase === "settle";
  if (record && (status === "completed" || status === "failed") && !isMissed)
    return replay(slot, record, worker, watch);
  if (status === "mismatch") return slot;
  if (isLost && worker.returns && without !== "lostValue") return slot;
  return answerUnrecorded(slot, worker, watch);
}

/** The caller gets a result that isn't recorded. It counts as of the end of its handler, if the claim was live then. */
export function answerUnrecorded(slot: Slot, worker: Worker, watch: Watch): Slot {
  watch.answersItself = true;
  if (!worker.endedLive) checkUnrecorded(slot, worker, watch);
  return slot;
}

export function checkUnrecorded({ record, history }: Slot, worker: Worker, watch: Watch): void {
  watch.expect(history.protectedFor === 0, "onlyAnswer");
  const isTaken = worker.mode === "claimed" && record !== undefined && record.token !== worker.token;
  watch.expect(!worker.returns || !isTaken, "holderAnswers");
}

/** The caller gets the recorded result, by this worker or by another one. */
export function replay(slot: Slot, record: ModelRecord, worker: Worker, watch: Watch): Slot {
  const { history } = slot;
  watch.expect(record.payload === worker.payload, "samePayload");
  watch.expect(history.firstAnswer === NO_TOKEN || history.firstAnswer === record.result, "firstAnswer");
  return { ...slot, history: { ...history, firstAnswer: record.result } };
}

/**
 * The winner of a claim has no competitor if no worker outlives its lease: no other handler runs, or still has to record how
 * it ended. `slot` is from before the claim.
 */
export function checkAlone(
  { workers }: ModelState,
  slot: Slot,
  index: number,
  model: Model,
  watch: Watch,
): void {
  if (mayOverlap(model)) return;
  const { key } = workers[index] as Worker;
  const isAtWork = ({ phase, mode, to, token }: Worker) => {
    if (["run", "orphan", "check", "verify", "mark"].includes(phase)) return mode === "claimed";
    const isRecorded = slot.record?.token !== token || slot.record.state !== "in-progress";
    return phase === "settle" && to !== "released" && !isRecorded;
  };
  const others = workers.filter((other, at) => at !== index && other.key === key);
  watch.expect(!others.some(isAtWork), "oneAtWork");
}
