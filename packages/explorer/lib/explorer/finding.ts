/** A finding of the explorer: one broken promise, at one point, under one disturbance. */
import type { FoldedSteps, TraceStep } from "./trace-steps.ts";

export const FINDING_KINDS = [
  /** An effect exists more often than after an undisturbed run. */
  "happens-twice",
  /** An effect is missing, although the source got a success. */
  "lost",
  /** An effect exists with different content. */
  "differs",
  /** A repeated request got a different response than the first one, or than an undisturbed run. */
  "answer-differs",
  /** A response or a message names something that does not exist. */
  "dangling",
  /** Long after the lease has ended, the operation still does not succeed. */
  "stuck",
  /** A later record of a group was finished before an earlier one. */
  "order",
  /** The response to a batch names records that aren't in it. */
  "misreported",
  /** One invocation made many times as many requests as an undisturbed one. */
  "unbounded",
  /** Work was left running when the handler returned. */
  "unawaited",
  /** Another system got two different requests under one idempotency key. */
  "key-reused",
] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** One I/O of the undisturbed run. */
export interface Point {
  /** Counts from 1. */
  readonly number: number;
  /** "dynamodb PutItem orders" */
  readonly label: string;
}

export interface Finding {
  readonly kind: FindingKind;
  /** The point of the disturbance; `undefined` if it has no point, such as a second delivery. */
  readonly point: Point | undefined;
  /** "a crash after point 7 (dynamodb PutItem orders)" */
  readonly disturbance: string;
  /** Pass it to run only this disturbance again: `explore(handler, event, { ..., only: id })`. */
  readonly id: string;
  /** "2 items in orders instead of 1" */
  readonly what: string;
  /** The relevant lines of the run, one per event, with the disturbance marked. */
  readonly trace: string;
  /** The same lines as data, for a diagram. */
  readonly steps: readonly (TraceStep | FoldedSteps)[];
  readonly seed: number;
  /** What to do about it. */
  readonly advice: string;
}
