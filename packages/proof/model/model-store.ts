/**
 * The model's store: each function is one request, decided immediately. A refused request is read by core's own code; every
 * move goes through core's table. packages/proof/model/stores.test.ts holds real stores to the same.
 */
import { RECORD_VERSION } from "../../../lib/contract.ts";
import { type ClaimStatus, classify, type IdempotencyRecord, isTracked } from "../../../lib/core/record.ts";
import type { Settlement } from "../../../lib/core/store.ts";
import { isSaga, type Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { NO_MARKS } from "./marks.ts";
import {
  type History,
  isFinished,
  isOpen,
  isUnsent,
  type ModelRecord,
  NEVER,
  NO_HISTORY,
  NO_TOKEN,
  type Seen,
  type Slot,
  seenOf,
  type Ticks,
  type Token,
} from "./state.ts";
import { type StoreAnswer, writeStep } from "./step-store.ts";

export interface ModelClaimant {
  readonly token: Token;
  readonly payload: number;
  /** By its host's clock. */
  readonly now: Ticks;
}

/** `now` is when the request was made. */
export interface Begin extends ModelClaimant {
  readonly seen: Seen | undefined;
  /** A fence of a claim that is held counts as no other attempt. */
  readonly isSameAttempt: boolean;
  readonly leaseEndsIn: Ticks;
  readonly expiresIn: Ticks;
}

export interface Finish {
  readonly token: Token;
  readonly to: Settlement["state"];
  /** A conditional commit inserts the row, if it is not there. */
  readonly commits: false | "commit" | "conditional";
  readonly expiresIn: Ticks;
  /** How long the effect is promised to stay the only one. */
  readonly protectedFor: Ticks;
}

export interface Renew {
  readonly token: Token;
  readonly leaseEndsIn: Ticks;
  readonly expiresIn: Ticks;
}

/** Won or settled; refused by the record; or, if the record didn't refuse, by the commit's own condition. */

/** One tick is a second: the unit in which expiry is stored. */
const toRecord = (record: ModelRecord, { without }: Model): IdempotencyRecord => ({
  version: RECORD_VERSION,
  state: record.state,
  token: `token-${record.token}`,
  attempt: record.attempt,
  leaseEndsAt: record.leaseEndsIn * 1000,
  fingerprint: `payload-${record.payload}`,
  createdAt: 0,
  ...(record.expiresIn !== NEVER && { expiresAt: record.expiresIn }),
  ...(record.marks !== NO_MARKS && without !== "stepsKeepPayload" && { steps: record.marks }),
});

/** How a claimant interprets a record. */
export function statusOf(record: ModelRecord, claimant: ModelClaimant, model: Model): ClaimStatus {
  const { without } = model;
  const payload = without === "fingerprint" ? record.payload : claimant.payload;
  const status = classify(toRecord(record, model), {
    token: `token-${without === "claimOwn" ? NO_TOKEN : claimant.token}`,
    fingerprints: [`payload-${payload}`],
    now: claimant.now * 1000,
  });
  if (without === "heldRefuses" && status === "held") return "vacant";
  if (without === "liveLease" && status === "in-progress") return "vacant";
  if (without === "takeOver" && status === "vacant" && record.state === "in-progress") return "in-progress";
  return status;
}

export const isVacant = (record: ModelRecord, claimant: ModelClaimant, model: Model): boolean =>
  ["vacant", "expired"].includes(statusOf(record, claimant, model));

/** `store.claim`: the slot as it is then, and whether the claim won. */
export function claim(slot: Slot, begin: Begin, model: Model, watch: Watch): [Slot, StoreAnswer] {
  const { record } = slot;
  if (!mayBegin(record, begin, model)) return [slot, "refused"];
  watch.expect(record?.token !== begin.token, "claimsOnce");
  const history = enter(slot, begin, model, watch);
  watch.move(stateOf(record, begin), "in-progress");
  const { token, payload } = begin;
  const { leaseEndsIn, expiresIn } = model.without === "leaseEnd" ? FOR_EVER : begin;
  const claimed = { state: "in-progress", token, attempt: history.attempts, payload } as const;
  const times = { leaseEndsIn, expiresIn, expiresOnceSentIn: NEVER };
  const keepsSteps = record && !begin.seen?.isExpired && model.without !== "claimKeepsSteps";
  const marks = keepsSteps ? record.marks : NO_MARKS;
  watch.expect(marks === NO_MARKS || record?.payload === payload, "samePayload");
  const steps = { marks, writes: 0 };
  return [{ ...slot, record: { ...claimed, ...times, ...steps, result: NO_TOKEN }, history }, "done"];
}

/** `store.renew`: the slot as it is then, and whether the lease is as long as was asked. */
export function renew(
  slot: Slot,
  { token, leaseEndsIn, expiresIn }: Renew,
  { without }: Model,
  watch: Watch,
): [Slot, StoreAnswer] {
  const { record } = slot;
  if (!record || (record.token !== token && without !== "renewToken")) return [slot, "refused"];
  const { state } = record;
  if (state !== "in-progress" && without !== "renewState") return [slot, "refused"];
  const isLonger = record.leaseEndsIn > leaseEndsIn - (record.writes > 0 ? 1 : 0);
  if (isLonger && without !== "renewForward") return [slot, "refused"];
  const isTaken = record.expiresIn === NEVER && expiresIn !== NEVER;
  if (isTaken && without !== "renewKeepsNever") return [slot, "refused"];
  watch.expect(record.token === token, "tokenOnWrite");
  watch.expect(!isFinished(record), "finishedStays");
  watch.move(state, state);
  // A value without its own expiry keeps the record's.
  const ends = { leaseEndsIn, expiresIn: expiresIn === NEVER ? record.expiresIn : expiresIn };
  return [{ ...slot, record: { ...record, ...ends, writes: 0 } }, "done"];
}

/** `store.settle`: the slot as it is then, and whether it is settled. */
export function settle(slot: Slot, finish: Finish, model: Model, watch: Watch): [Slot, StoreAnswer] {
  const { record } = slot;
  if (!record) return [slot, "refused"];
  const isOwn = record.token === finish.token;
  if (isOwn && record.state === finish.to) return [slot, "done"];
  const mayMove = model.without === "settleToken" || (isOwn && record.state === "in-progress");
  if (!mayMove) return [slot, "refused"];
  if (isHeldBack(slot, finish)) return [slot, "condition"];
  watch.expect(isOwn, "tokenOnWrite");
  watch.expect(!isFinished(record), "finishedStays");
  watch.move(record.state, finish.to);
  if (finish.to === "released" && model.without === "releaseKeepsRecord") {
    return [{ ...slot, record: undefined }, "done"];
  }
  return [finished(slot, record, finish, model, watch), "done"];
}

/** `store.insert`: the slot as it is then, and whether it is settled. */
export function insert(
  slot: Slot,
  begin: Begin,
  finish: Finish,
  model: Model,
  watch: Watch,
): [Slot, StoreAnswer] {
  const { record } = slot;
  const isOwn = record?.token === begin.token;
  if (isOwn && record.state === finish.to) return [slot, "done"];
  if (isOwn && record.state === "in-progress") return settle(slot, finish, model, watch);
  if (model.without !== "insertCondition" && !mayBegin(record, begin, model)) return [slot, "refused"];
  if (isHeldBack(slot, finish)) return [slot, "condition"];
  const history = enter(slot, begin, model, watch);
  watch.move(stateOf(record, begin), finish.to);
  const begun = {
    token: begin.token,
    attempt: history.attempts,
    payload: begin.payload,
    marks: NO_MARKS,
    writes: 0,
  };
  return [finished({ ...slot, history }, begun, finish, model, watch), "done"];
}

/** Core's `resolveOutcome`: an operator who knows the outcome takes the key over and settles it. */
export function resolve(slot: Slot, token: Token, model: Model, watch: Watch): Slot {
  const { record, history } = slot as Slot & { readonly record: ModelRecord };
  const { payload } = record;
  const times = { leaseEndsIn: 0, expiresIn: NEVER };
  const begin = { token, payload, now: 0, seen: seenOf(record, 0), isSameAttempt: false, ...times };
  let [taken] = claim(slot, begin, model, watch);
  const { second } = record.marks;
  if (second?.state === "begun") {
    const state = history.effects[1] === "done" ? "done" : "undone";
    const mark = { ...second, state, attempt: token } as const;
    [taken] = writeStep(taken, { token, name: "second", mark, seen: second }, model, watch);
  }
  const to = history.ran ? "completed" : "released";
  const end = { expiresIn: model.retentionTicks, protectedFor: 0, commits: false } as const;
  return settle(taken, { token, to, ...end }, model, watch)[0];
}

/** `outbox.markSent` */
export function mark(slot: Slot, token: Token, { without }: Model, watch: Watch): Slot {
  const { record, history } = slot;
  if (!record || !isUnsent(record)) return slot;
  if (record.token !== token && without !== "markToken") return slot;
  watch.expect(history.delivered, "messagesSent");
  const sent = { ...record, expiresIn: record.expiresOnceSentIn, expiresOnceSentIn: NEVER };
  return { ...slot, record: sent, history: { ...history, delivered: false } };
}

/** DynamoDB's TTL, by its own clock, at any time after the expiry. */
export function deleteByTtl(slot: Slot, model: Model, watch: Watch): Slot {
  const { record, history } = slot;
  watch.expect(!record || !mustStay(record, model), "openStays");
  watch.expect(!record || !isUnsent(record), "unsentStays");
  return {
    ...slot,
    record: undefined,
    history: { ...NO_HISTORY, protectedFor: history.protectedFor },
  };
}

/** An operator has to say how the operation ended, or to end it. */
const mustStay = (record: ModelRecord, { whenAbandoned }: Model) =>
  (isOpen(record) && whenAbandoned !== undefined) ||
  (!isFinished(record) && isTracked({ steps: record.marks }));

const FOR_EVER = { leaseEndsIn: NEVER, expiresIn: NEVER };

const isHeldBack = ({ isTaken }: Slot, { commits }: Finish) => commits === "conditional" && isTaken;

/** A claim's condition: there is no record, or it is still the one that was seen. */
function mayBegin(record: ModelRecord | undefined, begin: Begin, model: Model): boolean {
  const { seen } = begin;
  const { without } = model;
  if (!seen) return !record || (without === "insertOnly" && isVacant(record, begin, model));
  return (
    record !== undefined &&
    (record.token === seen.token || without === "seenToken") &&
    ((record.state === seen.state && record.leaseEndsIn === seen.leaseEndsIn) || without === "seenState") &&
    (record.writes === seen.writes || without === "stepMovesLease")
  );
}

const stateOf = (record: ModelRecord | undefined, { seen }: Begin) =>
  record === undefined || seen?.isExpired ? "absent" : record.state;

/** The history of a key that gets a new token: an expired record begins again, except for its count. */
function enter({ record, history }: Slot, begin: Begin, model: Model, watch: Watch): History {
  const { without, whenAbandoned } = model;
  if (begin.isSameAttempt) return history;
  const attempts = without === "countOn" ? 1 : (begin.seen?.attempt ?? 0) + 1;
  watch.expect(attempts > history.attempts, "fencingNumber");
  const isAnew = !record || (begin.seen?.isExpired ?? false);
  watch.expect(!record || !isUnsent(record), "unsentStays");
  watch.expect(isAnew || !isFinished(record), "finishedStays");
  watch.expect(!isAnew || !record || !mustStay(record, model), "openStays");
  if (isAnew) return { ...NO_HISTORY, protectedFor: history.protectedFor, attempts };
  // Taken over after its lease: the previous attempt may have had its effect.
  const isExcused = record.state === "in-progress" && !whenAbandoned;
  return { ...history, attempts, ran: history.ran && !isExcused };
}

function finished(
  slot: Slot,
  {
    token,
    attempt,
    payload,
    marks,
    writes,
  }: Pick<ModelRecord, "token" | "attempt" | "payload" | "marks" | "writes">,
  { token: result, to: state, commits, expiresIn, protectedFor }: Finish,
  { senders, without, calls }: Model,
  watch: Watch,
): Slot {
  const { history, isTaken } = slot;
  const isOver = state === "completed" || state === "failed";
  if (isOver && calls.some(({ handler }) => isSaga(handler))) {
    const isWhole = history.effects.every((effect) => (effect === "done") === (state === "completed"));
    watch.expect(isWhole, "allOrNothing");
  }
  if (commits) watch.expect(history.protectedFor === 0, "oneEffect");
  const waits = commits && senders > 0;
  const record: ModelRecord = {
    state,
    token,
    attempt,
    payload,
    leaseEndsIn: 0,
    result: isOver ? result : NO_TOKEN,
    marks: isOver ? NO_MARKS : marks,
    writes,
    expiresIn: waits && without !== "unsentNeverExpires" ? NEVER : expiresIn,
    expiresOnceSentIn: waits ? expiresIn : NEVER,
  };
  return {
    record,
    history: commits ? { ...history, protectedFor, delivered: false } : history,
    isTaken: isTaken || commits === "conditional",
  };
}
