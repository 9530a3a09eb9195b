/** A worker's requests. Their arguments are by the clock of its host; a repetition has those of the first time. */
import { longAgo, type Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { type Begin, claim, type Finish, insert, settle } from "./model-store.ts";
import { NO_TOKEN, type Slot, type Ticks, type Worker } from "./state.ts";

/** The request that a worker is about to make: the slot as it is then, and whether the claim won or the record is settled. */
export function apply(
  slot: Slot,
  worker: Worker,
  host: number,
  model: Model,
  watch: Watch,
): [after: Slot, isDone: boolean] {
  const begin = beginOf(worker, host, model);
  if (worker.phase === "claim") return claim(slot, begin, model, watch);
  const finish = finishOf(worker, host, model);
  if (worker.phase === "insert") return insert(slot, begin, finish, model, watch);
  return settle(slot, finish, model, watch);
}

export function nameOf({ phase, seen, to }: Worker): string {
  if (phase === "claim") return seen === NO_TOKEN ? "claims" : "resets the expired record";
  return `${phase}s: ${to}`;
}

/** As `Operation.seek`, `leaseEndsAt` and `expiresAt` in core/operation.ts. */
export function beginOf(worker: Worker, host: number, model: Model): Begin {
  const { token, payload, seen, left, age } = worker;
  const grace = model.without === "graceOnLease" ? 0 : model.graceTicks;
  const leaseEndsIn = left + host + grace;
  return {
    token,
    payload,
    seen,
    now: host - age,
    leaseEndsIn: notBefore(leaseEndsIn, model),
    expiresIn: notBefore(leaseEndsIn + model.retentionTicks, model),
  };
}

/**
 * The retention is counted from when the request was made. Less the difference of the clocks it is promised: others, or
 * the database's TTL, may be ahead by that.
 */
export function finishOf(worker: Worker, host: number, model: Model): Finish {
  const { token, to, handler, age } = worker;
  const { retentionTicks, hosts } = model;
  const difference = Math.max(0, ...hosts) - Math.min(0, ...hosts);
  return {
    token,
    to,
    commits: handler === "commit" && to === "completed",
    expiresIn: notBefore(host - age + retentionTicks, model),
    protectedFor: Math.max(0, retentionTicks - age - difference),
  };
}

const notBefore = (ticks: Ticks, model: Model): Ticks => Math.max(ticks, longAgo(model));
