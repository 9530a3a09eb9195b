/** The arguments of a worker's requests, by the clock of its host. A repetition has those of the first time. */
import { longAgo, type Model } from "./bounds.ts";
import type { Begin, Finish } from "./model-store.ts";
import type { Ticks, Worker } from "./state.ts";

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
