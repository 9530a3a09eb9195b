/** What the explorer finds: one broken promise, at one point, under one disturbance. */

export const FINDING_KINDS = [
  /** An effect is there more often than after an undisturbed run. */
  "happens-twice",
  /** An effect is missing, although the source was told that all is well. */
  "lost",
  /** An effect is there, with another content. */
  "differs",
  /** A repeated request got another answer than the first one, or than an undisturbed run gives. */
  "answer-differs",
  /** What an answer or a message names is not there. */
  "dangling",
  /** Long after the lease has ended, the operation still does not succeed. */
  "stuck",
  /** A later record of a group was done before an earlier one. */
  "order",
  /** The answer about a batch names records that were not in it. */
  "misreported",
  /** One invocation made many times the requests of an undisturbed one. */
  "unbounded",
  /** Work was left running when the handler returned. */
  "unawaited",
  /** Another system was asked for two things under one idempotency key. */
  "key-reused",
] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** One I/O of the undisturbed run. */
export interface Point {
  /** From 1. */
  readonly number: number;
  /** "dynamodb PutItem orders" */
  readonly label: string;
}

export interface Finding {
  readonly kind: FindingKind;
  /** Where the disturbance stood; `undefined` where it stood at no point, such as a second delivery. */
  readonly point: Point | undefined;
  /** "a crash after point 7 (dynamodb PutItem orders)" */
  readonly disturbance: string;
  /** Runs this disturbance alone again: `explore(handler, event, { ..., only: id })`. */
  readonly id: string;
  /** "2 items in orders instead of 1" */
  readonly what: string;
  /** The run, a line per event, the disturbance marked; only what matters. */
  readonly trace: string;
  readonly seed: number;
  /** What to do about it. */
  readonly advice: string;
}
