/** A worker's requests. Their arguments are by its host's clock; a repetition has the original arguments. */
import { longAgo, type Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import type { MarkName, StepWrite } from "./marks.ts";
import { type Begin, claim, type Finish, insert, renew, settle } from "./model-store.ts";
import { participate } from "./participant.ts";
import {
  isFinished,
  type ModelState,
  NEVER,
  type Slot,
  type Ticks,
  type Token,
  type Worker,
  withSlot,
} from "./state.ts";
import type { StoreAnswer } from "./step-store.ts";
import { neverExpires, writeStep } from "./step-store.ts";

/** The request that a worker is about to make: the state as it is then, and the answer. */
export function apply(
  state: ModelState,
  worker: Worker,
  host: number,
  model: Model,
  watch: Watch,
): [after: ModelState, answer: StoreAnswer] {
  const slot = state.slots[worker.key] as Slot;
  const begin = beginOf(worker, host, model);
  const finish = finishOf(worker, host, model);
  const isClaim = worker.phase === "claim" || worker.phase === "fence";
  const ask = (): [Slot, StoreAnswer] => {
    if (worker.phase === "mark") {
      const { token, step, write } = worker as Worker & { step: MarkName; write: StepWrite };
      return writeStep(slot, { token, name: step, ...write }, model, watch);
    }
    if (worker.phase === "ask") return [participate(slot, worker.step as MarkName, model, watch), "done"];
    if (isClaim) return claim(slot, begin, model, watch);
    if (worker.phase === "renew") return renew(slot, begin, model, watch);
    return worker.phase === "insert"
      ? insert(slot, begin, finish, model, watch)
      : settle(slot, finish, model, watch);
  };
  const [after, answer] = ask();
  const next = withSlot(state, worker.key, after);
  if (after === slot) return [next, answer];
  return [isClaim ? spend(next, worker.token, true) : next, answer];
}

export function nameOf({ phase, seen, to, step, write }: Worker): string {
  if (phase === "mark") return `records that "${step}" is ${write?.mark.state}`;
  if (phase === "ask") return `asks for "${step}"`;
  if (phase === "claim") return seen ? "takes over what it saw" : "claims";
  if (phase === "fence") return "fences its refused commit";
  if (phase === "renew") return "renews its lease";
  return `${phase}s: ${to}${seen ? ", over what it saw" : ""}`;
}

/** As `claimAt` in core/claiming.ts, and `leaseEndsAt` and `expiresAt` in core/ongoing-call.ts. */
function beginOf(worker: Worker, host: number, model: Model): Begin {
  const { token, payload, seen, left, age, phase, mode } = worker;
  const grace = model.without === "graceOnLease" ? 0 : model.graceTicks;
  const leaseEndsIn = left + host + grace;
  const kept = phase === "renew" ? worker.marks : seen && !seen.isExpired && seen.marks;
  const keepsSteps = kept && neverExpires(kept, model.without);
  return {
    token,
    payload,
    seen,
    isSameAttempt: phase === "fence" && mode === "claimed",
    now: host - age,
    leaseEndsIn: notBefore(leaseEndsIn, model),
    expiresIn: isKept(model) || keepsSteps ? NEVER : notBefore(leaseEndsIn + model.retentionTicks, model),
  };
}

/**
 * The retention is counted from when the request was made. Less the difference of the clocks it is promised: others, or
 * the database's TTL, may be ahead by that.
 */
export function finishOf(worker: Worker, host: number, model: Model): Finish {
  const { token, to, handler, age, marks } = worker;
  const { retentionTicks, hosts, without } = model;
  const difference = Math.max(0, ...hosts) - Math.min(0, ...hosts);
  const isUnfinished = to === "released" && neverExpires(marks, without);
  const isHeld = to === "held" && without !== "openNeverExpires";
  const isCommit = to === "completed" && (handler === "commit" || handler === "conditional");
  return {
    token,
    to,
    commits: isCommit && handler,
    expiresIn: isHeld || isUnfinished ? NEVER : notBefore(host - age + retentionTicks, model),
    protectedFor: Math.max(0, retentionTicks - age - difference),
  };
}

/** The handler learns that its commit under `token` is refused: from now on it must stay so. */
export function tellRefusal(state: ModelState, { key }: Worker, token: Token, watch: Watch): ModelState {
  const record = state.slots[key]?.record;
  watch.expect(!record || record.token !== token || !isFinished(record), "refusedStays");
  return spend(state, token, false);
}

/** Copies of this claim, or of this commit, must change nothing any more. */
function spend(state: ModelState, token: Token, areClaims: boolean): ModelState {
  const isSpent = ({ phase, token: own }: Worker) =>
    own === token && phase !== "renew" && (phase === "claim" || phase === "fence") === areClaims;
  if (!state.strays.some((stray) => !stray.isSpent && isSpent(stray.worker))) return state;
  const strays = state.strays.map((stray) => (isSpent(stray.worker) ? { ...stray, isSpent: true } : stray));
  return { ...state, strays };
}

/** A record that may be held has no expiry. */
const isKept = ({ whenAbandoned, without }: Model) =>
  whenAbandoned !== undefined && without !== "openNeverExpires";

const notBefore = (ticks: Ticks, model: Model): Ticks => Math.max(ticks, longAgo(model));
