/** The bounds of a model exploration, and the protocol rules that it leaves out. */

/**
 * Rules of the protocol that a negative control can leave out, one at a time. A rule earns its place by the violation that
 * is found without it.
 */
export const RULES = {
  settleToken: "a completion or a release carries the claim token",
  claimOwn: "a refused claim looks for its own token first",
  insertOnly: "a first claim only inserts; what may be taken over is seen first",
  seenToken: "a take-over needs the token that was seen",
  seenState: "a take-over needs the state that was seen, too",
  liveLease: "a live lease is not taken over",
  leaseEnd: "a claim ends by itself: its lease, and in the end its record",
  takeOver: "a claim whose lease has ended may be taken over",
  graceOnLease: "a lease lasts longer than the work by the clock skew",
  fingerprint: "a claim matches the fingerprint before anything else is answered",
  freshToken: "each call has a claim token of its own",
  timelyClaim: "no claim is made once the time of its call is over",
  renewToken: "a renewal carries the claim token",
  renewState: "a renewal needs a record that is in progress",
  renewForward: "a renewal shortens no lease",
  renewKeepsNever: "a renewal gives no expiry to a record that has none",
  renewAnswered: "only a renewal that was answered lets the work go on",
  stopUnrenewed: "work stops where its lease ends unrenewed, or its process dies with it",
  countOn: "a record that is taken over goes on counting its attempts",
  releaseKeepsRecord: "a release keeps the record",
  keepAfterAbort: "an abort never releases",
  keepAfterLoss: "nothing is released once the effect may have happened, also when the completion is lost",
  insertCondition: "an insertion has the condition of a claim",
  lookAtTheEnd: "an attempt without a claim that records nothing looks before its answer counts",
  lookAfterAbort: "an attempt that was aborted looks before its answer counts",
  winnerAnswers: "an attempt whose release is refused answers with what is recorded",
  lostValue: "a value that is not recorded does not count once the claim is lost",
  liveAnswer: "an answer that couldn't be checked counts only while its claim is live",
  fence: "a refused commit that may still be applied is fenced before its handler learns of it",
  fenceToken: "a fence claims under a fresh token",
  fenceSees: "a fence that finds the commit applied counts it as done",
  fenceRaces: "an insertion that a record refused may still be applied, too",
  abandonedAsks: "an abandoned attempt is asked about, or held, before a handler runs",
  heldRefuses: "no attempt runs for a held key before its outcome is known",
  heldGoesOn: "a held key with steps may be claimed, as after a crash",
  openNeverExpires: "a claim that may be held, and a held record, have no expiry",
  openKeepsClaim: "a claim over an abandoned attempt is not given back without a verdict",
  unknownHolds: "a handler that does not know whether its effect happened holds its key",
  stepToken: "the write of a step carries the claim token",
  stepSeen: "the write of a step needs the step that was seen",
  stepStamp: "no two writes of a step are the same",
  stepMovesLease: "the write of a step moves the end of the lease, which a take-over needs as it was seen",
  stepRecorded: "a step is on record before its handler goes on",
  claimKeepsSteps: "a claim keeps the steps of an operation that has not ended",
  stepsKeepPayload: "a record with steps keeps its payload",
  intentFirst: "a step at most once is written down before it runs",
  interruptedAsks: "an interrupted step at most once is asked about, or its key is held",
  begunNeverExpires: "a record with a step that was begun has no expiry",
  trackedNeverExpires: "the record of a saga that has begun has no expiry",
  turnRecorded: "a saga records that it turns back before it undoes anything",
  undoesUnknown: "a saga that turns back undoes the step that failed, too",
  undoesReverse: "a saga undoes its last step first",
  pivotForward: "a saga only goes forward after its pivot",
  stepKey: "an attempt asks for a step under the same key as the attempts before",
  undoKey: "an attempt asks for a compensation under the same key as the attempts before",
  undoneStays: "a step that comes after its compensation does nothing",
  cancelStays: "a step whose compensation came first does nothing",
  messagesInCommit: "messages are stored by the write that commits",
  unsentNeverExpires: "a record with unsent messages has no expiry",
  sendBeforeMark: "a sender marks after it has sent",
  markToken: "a sender marks under the token of the commit that it sent",
} as const;
export type Rule = keyof typeof RULES;

/** How a call works: `fail-open` is claimed with `whenStoreFails: "run"`. */
export interface CallKind {
  readonly mode: "claimed" | "optimistic" | "fail-open";
  readonly handler: Handler;
}

export const HANDLERS = [
  /** An effect in another system. */
  "outside",
  "commit",
  /** A commit with its own condition. */
  "conditional",
  /** Two steps: one that runs again after an interruption, then an at-most-once step without a `verify`. */
  "steps",
  /** The same, and `verify` is asked about the second. */
  "asked steps",
  /** Two steps with their compensations. */
  "saga",
  /** The same, and the first step is the pivot. */
  "saga with a pivot",
  /** The second step runs at most once, and has no `verify`. */
  "saga at most once",
] as const;
/** What a handler does. */
export type Handler = (typeof HANDLERS)[number];

export const isSaga = (handler: Handler): boolean => handler.startsWith("saga");
export const hasSteps = (handler: Handler): boolean => isSaga(handler) || handler.endsWith("steps");

/** Times are in ticks; one tick represents a second. Calls, crashes, lost responses and repetitions have no bound. */
export interface Bounds {
  readonly title: string;
  /** One number per worker: how far its host's clock is ahead. Each runs one call after another. */
  readonly hosts: readonly number[];
  readonly keys: number;
  readonly calls: readonly CallKind[];
  /** How many relays and sweepers may run at the same time; with 0, commits have no messages. */
  readonly senders: number;
  /** How many payloads callers send under one key: with 2, some are mismatches. */
  readonly payloads: number;
  /** From the start of a call to its deadline. */
  readonly workTicks: number;
  /** `clockSkewSeconds`. */
  readonly graceTicks: number;
  /** `retentionSeconds`. */
  readonly retentionTicks: number;
  /** Workers may go on after their deadline: a freeze and thaw, or no Lambda at all. */
  readonly outlives: boolean;
  /** Workers renew their leases: `workTicks` is then a lease, and doesn't limit their work. */
  readonly renews: boolean;
  /**
   * How a call handles an abandoned attempt: `hold` and `verify` as in the option. Then an operator resolves keys, too.
   * @default "run"
   */
  readonly whenAbandoned?: "hold" | "verify" | undefined;
  /** How many copies of requests may be under way at the same time, arriving after their worker has moved on or died. */
  readonly strays: number;
}

export interface Model extends Bounds {
  readonly without?: Rule;
}

/** Whether workers may be at work after their lease as others see it: then only the token protects a record. */
export function mayOverlap({ hosts, graceTicks, outlives }: Bounds): boolean {
  return outlives || Math.max(...hosts) - Math.min(...hosts) > graceTicks;
}

/** A request is applied within its call's time; a request of a worker without a deadline, within as many ticks. */
export const requestTicks = ({ workTicks }: Bounds): number => workTicks;

/** Times before this look all the same to every request that may be under way. */
export const longAgo = (bounds: Bounds): number => Math.min(0, ...bounds.hosts) - requestTicks(bounds) - 1;
