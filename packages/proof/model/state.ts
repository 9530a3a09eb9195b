/** A state of the model: the stored records, the next action of every worker and sender, and a little history. */
import type { State } from "../../../lib/core/record.ts";
import type { Bounds, CallKind } from "./bounds.ts";
import { type Effects, type MarkName, type Marks, NO_EFFECTS, NO_MARKS, type StepWrite } from "./marks.ts";

/** Claim tokens, fresh for each call. Which number it is means nothing. */
export type Token = number;
export const NO_TOKEN: Token = 0;

/** In ticks from now; negative is past. */
export type Ticks = number;
export const NEVER: Ticks = 90;

/** The part of a stored record that the protocol reads. */
export interface ModelRecord {
  readonly state: State;
  readonly token: Token;
  readonly attempt: number;
  readonly payload: number;
  /** Only of a record in progress: nothing reads it in others. */
  readonly leaseEndsIn: Ticks;
  readonly expiresIn: Ticks;
  /** Results are distinguished by who recorded them. */
  readonly result: Token;
  /** `NEVER` unless messages of the commit wait to be sent. */
  readonly expiresOnceSentIn: Ticks;
  /** The steps on record, until the operation ends. */
  readonly marks: Marks;
  /** How often a step was written under this claim: each makes the lease a little longer. */
  readonly writes: number;
}

/** An observer's memory of a key. The protocol doesn't see it; invariants are about it. */
export interface History {
  /** The first recorded answer that a caller got. */
  readonly firstAnswer: Token;
  /** How long the last committed effect is promised to stay the only one. */
  readonly protectedFor: Ticks;
  /** An effect in another system happened, and no failure or expiry excuses another one, nor does the end of a lease if no key may be held. */
  readonly ran: boolean;
  /** The highest fencing number since the record came to be. */
  readonly attempts: number;
  /** The messages that wait were sent at least once. */
  readonly delivered: boolean;
  /** The effects of the operation's steps in other systems. */
  readonly effects: Effects;
  /** The steps that are done on record, or whose result the handler has got. */
  readonly passed: readonly MarkName[];
}

export interface Slot {
  readonly record: ModelRecord | undefined;
  readonly history: History;
  /** The row that a conditional commit inserts exists: from such a commit, or from another caller's write. */
  readonly isTaken: boolean;
}

/** A record that is to be replaced: what a store compares of it, and whether it was expired when it was read. */
export interface Seen
  extends Pick<ModelRecord, "token" | "state" | "leaseEndsIn" | "attempt" | "marks" | "writes"> {
  readonly isExpired: boolean;
}

/**
 * A worker's next action. `look`, `claim`, `settle`, `insert`, `fence` and `check` are one request each. `run` is the
 * running handler, and `orphan` is a handler that keeps running although its call was aborted. `verify` decides about an abandoned
 * attempt. `mark` writes a step. `renew` and `ask` are copies of requests that a worker made while its handler ran. `ask` asks
 * another system for a step, or for its compensation.
 */
export type Phase =
  | "idle"
  | "look"
  | "claim"
  | "run"
  | "settle"
  | "insert"
  | "fence"
  | "check"
  | "orphan"
  | "renew"
  | "verify"
  | "mark"
  | "ask";

export interface Worker extends CallKind {
  readonly phase: Phase;
  readonly key: number;
  readonly payload: number;
  readonly token: Token;
  /** Until its deadline. */
  readonly left: Ticks;
  /** Since the arguments of the request were made: a repetition has the same. */
  readonly age: Ticks;
  /** The record that a claim or an insertion is to replace. */
  readonly seen: Seen | undefined;
  /** What a settlement or an insertion records. */
  readonly to: "completed" | "failed" | "released" | "held";
  /** The end that is not recorded is a value, not an error. */
  readonly returns: boolean;
  /** Another try of this commit was made: it may be applied, still be under way, or neither. */
  readonly isRepeated: boolean;
  /** Its handler learnt that a commit is refused. */
  readonly wasRefused: boolean;
  /** Its handler ended under a live claim: its end was before whatever others have done since. */
  readonly endedLive: boolean;
  /** The token of the refused commit that a fence rules out. */
  readonly former: Token;
  /** The steps on record, as far as it knows. */
  readonly marks: Marks;
  /** The step that it has written down and now runs, or that it writes or asks for. */
  readonly step: MarkName | undefined;
  readonly write: StepWrite | undefined;
}

/** A relay or a sweeper with one commit in its hands. */
export interface Sender {
  readonly phase: "idle" | "send" | "mark";
  readonly key: number;
  readonly token: Token;
}

/** A copy of a request that is still on its way when its worker has gone on, or is dead. */
export interface Stray {
  readonly worker: Worker;
  /** How far the clock is ahead by which it was made. */
  readonly host: Ticks;
  /** It must change nothing any more: its claim was already won, or its commit was reported as refused. */
  readonly isSpent: boolean;
}

export interface ModelState {
  readonly slots: readonly Slot[];
  readonly workers: readonly Worker[];
  readonly strays: readonly Stray[];
  readonly senders: readonly Sender[];
}

export const NO_HISTORY: History = {
  firstAnswer: NO_TOKEN,
  protectedFor: 0,
  ran: false,
  attempts: 0,
  delivered: false,
  effects: NO_EFFECTS,
  passed: [],
};

export const IDLE_WORKER: Worker = {
  phase: "idle",
  mode: "claimed",
  handler: "commit",
  key: 0,
  payload: 0,
  token: NO_TOKEN,
  left: 0,
  age: 0,
  seen: undefined,
  to: "completed",
  returns: false,
  isRepeated: false,
  wasRefused: false,
  endedLive: false,
  former: NO_TOKEN,
  marks: NO_MARKS,
  step: undefined,
  write: undefined,
};

export const IDLE_SENDER: Sender = { phase: "idle", key: 0, token: NO_TOKEN };

export const isUnsent = (record: ModelRecord): boolean => record.expiresOnceSentIn !== NEVER;

/** `now` is by the reader's clock. */
export const seenOf = (record: ModelRecord, now: Ticks): Seen => ({
  token: record.token,
  state: record.state,
  leaseEndsIn: record.leaseEndsIn,
  attempt: record.attempt,
  marks: record.marks,
  writes: record.writes,
  isExpired: record.expiresIn <= now,
});

/** The last attempt's outcome is unknown. */
export const isOpen = ({ state }: Pick<ModelRecord, "state">): boolean =>
  state === "in-progress" || state === "held";

export const isFinished = (record: ModelRecord): boolean =>
  record.state === "completed" || record.state === "failed";

export function initialState({ keys, hosts, senders }: Bounds): ModelState {
  return {
    slots: Array.from({ length: keys }, () => ({ record: undefined, history: NO_HISTORY, isTaken: false })),
    workers: hosts.map(() => IDLE_WORKER),
    strays: [],
    senders: Array.from({ length: senders }, () => IDLE_SENDER),
  };
}

export function withSlot(state: ModelState, key: number, slot: Slot): ModelState {
  return slot === state.slots[key] ? state : { ...state, slots: state.slots.with(key, slot) };
}

export function withWorker(state: ModelState, index: number, worker: Worker): ModelState {
  return { ...state, workers: state.workers.with(index, worker) };
}

export function withSender(state: ModelState, index: number, sender: Sender): ModelState {
  return { ...state, senders: state.senders.with(index, sender) };
}

/** One that no worker remembers. */
export function freshToken({ slots, workers, strays, senders }: ModelState): Token {
  const isKnown = (token: Token) =>
    slots.some(
      ({ record, history }) =>
        record?.token === token || record?.result === token || history.firstAnswer === token,
    ) ||
    [...workers, ...strays.map(({ worker }) => worker)].some(
      (worker) => worker.token === token || worker.seen?.token === token || worker.former === token,
    ) ||
    senders.some((sender) => sender.token === token);
  let token = NO_TOKEN + 1;
  while (isKnown(token)) token++;
  return token;
}
