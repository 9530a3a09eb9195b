/**
 * The model's store: each function is one request, decided at once. Whether a claim may win, and what a refused one reads,
 * is core's own code; every move goes through core's table. test/model/stores.test.ts holds real stores to the same.
 */
import { RECORD_VERSION } from "../../lib/contract.ts";
import {
  type IdempotencyRecord,
  isClaimable,
  isExpired,
  type Refusal,
  readRefusal,
} from "../../lib/core/record.ts";
import type { Settlement } from "../../lib/core/store.ts";
import type { Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import {
  type History,
  isFinished,
  isUnsent,
  type ModelRecord,
  NEVER,
  NO_HISTORY,
  NO_TOKEN,
  type Slot,
  type Ticks,
  type Token,
} from "./state.ts";

export interface ModelSeeker {
  readonly token: Token;
  readonly payload: number;
  /** By the clock of its host, when the request was made. */
  readonly now: Ticks;
}

export interface Begin extends ModelSeeker {
  /** Of the expired record that is to be replaced. */
  readonly seen: Token;
  readonly leaseEndsIn: Ticks;
  readonly expiresIn: Ticks;
}

export interface Finish {
  readonly token: Token;
  readonly to: Settlement["state"];
  readonly commits: boolean;
  readonly expiresIn: Ticks;
  /** How long the effect is promised to stay the only one. */
  readonly protectedFor: Ticks;
}

/** One tick is a second: the unit in which expiry is stored. */
const toRecord = (record: ModelRecord): IdempotencyRecord => ({
  version: RECORD_VERSION,
  state: record.state,
  token: `token-${record.token}`,
  attempt: record.attempt,
  leaseEndsAt: record.leaseEndsIn * 1000,
  fingerprint: `payload-${record.payload}`,
  createdAt: 0,
  ...(record.expiresIn !== NEVER && { expiresAt: record.expiresIn }),
});

export const toSeeker = ({ token, payload, now }: ModelSeeker) => ({
  token: `token-${token}`,
  fingerprints: [`payload-${payload}`],
  now: now * 1000,
});

export function refusalOf(record: ModelRecord, seeker: ModelSeeker, { without }: Model): Refusal {
  const token = without === "claimOwn" ? NO_TOKEN : seeker.token;
  const payload = without === "fingerprint" ? record.payload : seeker.payload;
  return readRefusal(toRecord(record), toSeeker({ ...seeker, token, payload }));
}

/** `store.claim`: the slot as it is then, and whether the claim won. */
export function claim(slot: Slot, begin: Begin, model: Model, watch: Watch): [Slot, boolean] {
  const { record } = slot;
  if (!mayBegin(record, begin, model)) return [slot, false];
  const history = enter(slot, begin, model, watch);
  watch.move(stateOf(slot, begin), "in-progress");
  const { token, payload } = begin;
  const { leaseEndsIn, expiresIn } = model.without === "leaseEnd" ? FOR_EVER : begin;
  const claimed = { state: "in-progress", token, attempt: history.attempts, payload } as const;
  const times = { leaseEndsIn, expiresIn, expiresOnceSentIn: NEVER };
  return [{ record: { ...claimed, ...times, result: NO_TOKEN }, history }, true];
}

/** `store.settle`: the slot as it is then, and whether it is settled. */
export function settle(slot: Slot, finish: Finish, model: Model, watch: Watch): [Slot, boolean] {
  const { record } = slot;
  if (!record) return [slot, false];
  const isOwn = record.token === finish.token;
  if (isOwn && record.state === finish.to) return [slot, model.without !== "settleOwn"];
  const mayMove = model.without === "settleToken" || (isOwn && record.state === "in-progress");
  if (!mayMove) return [slot, false];
  watch.expect(isOwn, "tokenOnWrite");
  watch.expect(!isFinished(record), "finishedStays");
  watch.move(record.state, finish.to);
  if (finish.to === "released" && model.without === "releaseKeepsRecord") {
    return [{ record: undefined, history: slot.history }, true];
  }
  return [finished(slot, record, finish, model, watch), true];
}

/** `store.insert`: the slot as it is then, and whether it is settled. */
export function insert(
  slot: Slot,
  begin: Begin,
  finish: Finish,
  model: Model,
  watch: Watch,
): [Slot, boolean] {
  const { record } = slot;
  const isOwn = record?.token === begin.token;
  if (isOwn && record.state === finish.to) return [slot, true];
  if (isOwn && record.state === "in-progress") return settle(slot, finish, model, watch);
  if (model.without !== "insertCondition" && !mayBegin(record, begin, model)) return [slot, false];
  const history = enter(slot, begin, model, watch);
  watch.move(stateOf(slot, begin), finish.to);
  const begun = { token: begin.token, attempt: history.attempts, payload: begin.payload };
  return [finished({ record, history }, begun, finish, model, watch), true];
}

/** `outbox.markSent` */
export function mark(slot: Slot, token: Token, { without }: Model, watch: Watch): Slot {
  const { record, history } = slot;
  if (!record || !isUnsent(record)) return slot;
  if (record.token !== token && without !== "markToken") return slot;
  watch.expect(history.delivered, "messagesSent");
  const sent = { ...record, expiresIn: record.expiresOnceSentIn, expiresOnceSentIn: NEVER };
  return { record: sent, history: { ...history, delivered: false } };
}

/** What DynamoDB's TTL does, by its own clock, at any time after the expiry. */
export function deleteByTtl({ record, history }: Slot, watch: Watch): Slot {
  watch.expect(!record || !isUnsent(record), "unsentStays");
  return { record: undefined, history: { ...NO_HISTORY, protectedFor: history.protectedFor } };
}

const FOR_EVER = { leaseEndsIn: NEVER, expiresIn: NEVER };

/** The condition of a claim, from core's own predicates. */
function mayBegin(record: ModelRecord | undefined, begin: Begin, { without }: Model): boolean {
  const seeker = toSeeker(begin);
  if (begin.seen !== NO_TOKEN) {
    if (record?.token !== begin.seen) return false;
    return without === "resetIfExpired" || isExpired(toRecord(record), seeker.now);
  }
  if (!record) return true;
  if (without === "takeOver" && record.state === "in-progress") return false;
  if (without === "liveLease" && record.state === "in-progress" && !isExpired(toRecord(record), seeker.now))
    return true;
  return isClaimable(toRecord(record), seeker);
}

const stateOf = ({ record }: Slot, { seen }: Begin) =>
  record === undefined || seen !== NO_TOKEN ? "absent" : record.state;

/** What history says of a key that gets a new token: a record that is replaced whole begins anew, but for its count. */
function enter({ record, history }: Slot, begin: Begin, { without }: Model, watch: Watch): History {
  const isReset = begin.seen !== NO_TOKEN;
  const attempts = without === "countOn" && isReset ? 1 : (record?.attempt ?? 0) + 1;
  watch.expect(attempts > history.attempts, "fencingNumber");
  if (record) {
    watch.expect(!isUnsent(record), isReset ? "unsentStays" : "finishedStays");
    const isOver = isReset && isExpired(toRecord(record), begin.now * 1000);
    watch.expect(!isFinished(record) || isOver, "finishedStays");
  }
  if (!record || isReset) return { ...NO_HISTORY, protectedFor: history.protectedFor, attempts };
  // Taken over after its lease: the attempt before may have had its effect.
  return { ...history, attempts, ran: history.ran && record.state !== "in-progress" };
}

function finished(
  { history }: Slot,
  { token, attempt, payload }: Pick<ModelRecord, "token" | "attempt" | "payload">,
  { token: result, to: state, commits, expiresIn, protectedFor }: Finish,
  { senders, without }: Model,
  watch: Watch,
): Slot {
  if (commits) watch.expect(history.protectedFor === 0, "oneEffect");
  const waits = commits && senders > 0;
  const record: ModelRecord = {
    state,
    token,
    attempt,
    payload,
    leaseEndsIn: 0,
    result: state === "completed" || state === "failed" ? result : NO_TOKEN,
    expiresIn: waits && without !== "unsentNeverExpires" ? NEVER : expiresIn,
    expiresOnceSentIn: waits ? expiresIn : NEVER,
  };
  return { record, history: commits ? { ...history, protectedFor, delivered: false } : history };
}
