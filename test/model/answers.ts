/** What a worker makes of a record that refused it: core/claiming.ts, core/engine.ts and core/refusal.ts in short. */
import { type Model, mayOverlap } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { type ModelSeeker, refusalOf } from "./model-store.ts";
import { type ModelRecord, type ModelState, NO_TOKEN, type Slot, type Worker } from "./state.ts";

/** The worker goes on, or it has answered and stops. */
export type Reading =
  | { readonly goesOn: Partial<Worker> }
  | { readonly goesOn?: undefined; readonly slot: Slot };

/** Before the handler has run: a refused claim, or a look. */
export function readRecord(
  slot: Slot,
  worker: Worker,
  seeker: ModelSeeker,
  model: Model,
  watch: Watch,
): Reading {
  const { record } = slot;
  const ready = { phase: worker.phase === "look" ? "run" : "claim", seen: NO_TOKEN } as const;
  // A race: gone by now.
  if (!record) return { goesOn: ready };
  const refusal = refusalOf(record, seeker, model);
  if (refusal === "own") return { goesOn: { phase: "run", mode: "claimed", seen: NO_TOKEN } };
  if (refusal === "expired") return { goesOn: { ...ready, seen: record.token } };
  if (refusal === "claimable") {
    // A claim that names no expired record decides by the same words as this reading.
    watch.expect(worker.phase === "look" || worker.seen !== NO_TOKEN, "notStuck");
    return { goesOn: ready };
  }
  if (refusal === "completed" || refusal === "failed") return { slot: replay(slot, record, worker, watch) };
  watch.expect(record.token !== worker.token, "ownClaim");
  return { slot };
}

/** After the handler has run: its settlement or insertion was refused. */
export function readLoss(
  slot: Slot,
  worker: Worker,
  seeker: ModelSeeker,
  model: Model,
  watch: Watch,
): Reading {
  const { record } = slot;
  const refusal = record && refusalOf(record, seeker, model);
  if (worker.phase === "insert") {
    if (record && refusal === "expired") return { goesOn: { seen: record.token } };
    if (!record && worker.seen !== NO_TOKEN) return { goesOn: { seen: NO_TOKEN } };
  }
  // A release that fails never hides the handler's own error.
  if (!record || worker.to === "released") return { slot };
  if (refusal === "completed" || refusal === "failed") return { slot: replay(slot, record, worker, watch) };
  // The claim is lost: an error that says so, which a retry gets over.
  watch.expect(record.token !== worker.token || record.state !== worker.to, "ownClaim");
  return { slot };
}

/** The caller gets what is recorded, by this worker or by another one. */
export function replay(slot: Slot, record: ModelRecord, worker: Worker, watch: Watch): Slot {
  const { history } = slot;
  watch.expect(record.payload === worker.payload, "samePayload");
  watch.expect(history.firstAnswer === NO_TOKEN || history.firstAnswer === record.result, "firstAnswer");
  return { record, history: { ...history, firstAnswer: record.result } };
}

/**
 * Where no worker outlives its lease, whoever wins a claim is alone: nobody else's handler runs, or has yet to record how
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
    if (phase === "run" || phase === "orphan") return mode === "claimed";
    const isRecorded = slot.record?.token !== token || slot.record.state !== "in-progress";
    return phase === "settle" && to !== "released" && !isRecorded;
  };
  const others = workers.filter((other, at) => at !== index && other.key === key);
  watch.expect(!others.some(isAtWork), "oneAtWork");
}
