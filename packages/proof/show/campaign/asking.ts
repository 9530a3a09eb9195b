// The messages between the callers and the processes that answer them.
import type { Decision } from "onceonly";

/**
 * How a run of the handler goes. It does its job, or fails before or after. Or it answers with a result that is not
 * stored, or refuses for good.
 */
export type Fate = "do" | "fail" | "fail-after" | "decline" | "refuse";

/** How a handler behaves in one call: not part of the payload, so calls of one key may differ. */
export interface Mood {
  readonly fate: Fate;
  /** How long it works before its effect, and after it. */
  readonly beforeMs: number;
  readonly afterMs: number;
  /** How large its answer is. */
  readonly bytes: number;
}

export const CALM: Mood = { fate: "do", beforeMs: 0, afterMs: 0, bytes: 0 };

/** The payload. */
export interface Input {
  readonly key: string;
  /** 2 is the corrected payload. */
  readonly version: 1 | 2;
  /** The account that is wanted, or the product. */
  readonly name: string;
}

/** A call of an operation. */
export interface Ask {
  /** Names the call, and the run of the handler in it. */
  readonly id: number;
  readonly variant: string;
  readonly input: Input;
  readonly mood: Mood;
  /** Nothing is done to it any more. */
  readonly isCalm: boolean;
  /** The time of the invocation, or of the lease if there is none. */
  readonly remainingMs: number;
}

/** An event for one of the functions that send and consume messages. */
export interface Invocation {
  readonly id: number;
  readonly function: string;
  readonly event: unknown;
  readonly remainingMs: number;
  /** Nothing is done to it any more. */
  readonly isCalm: boolean;
}

/**
 * `done` and `refused` are final. `declined`, `sold-out` and `exists` are answers of the handler that are not stored;
 * `exists` says whose. `failed` is the handler's own error, `failed-after` one after its commit. `not-written` is a refused
 * condition. The rest are answers of onceonly; `outage` says that the outcome is unknown.
 */
export const WORDS = [
  "done",
  "refused",
  "declined",
  "sold-out",
  "exists",
  "failed",
  "failed-after",
  "not-written",
  "mismatch",
  "in-progress",
  "lost",
  "outage",
  "other",
] as const;
export type Word = (typeof WORDS)[number];

export interface Answer {
  readonly says: Word;
  /** The run whose answer it is. */
  readonly run?: number;
  /** The owner of the account that is in the way. */
  readonly owner?: string;
  /** The digest covers the whole answer. */
  readonly digest?: string;
  readonly detail?: string;
}

/** How a call ended. */
export interface Ended {
  readonly answer: Answer;
  readonly decisions: readonly Decision[];
}

export type ToHands = { readonly ask: Ask } | { readonly invocation: Invocation };

export type FromHands =
  | { readonly id: number; readonly ended: Ended }
  | { readonly id: number; readonly handlerStarted: { readonly at: number; readonly attempt?: number } }
  | { readonly id: number; readonly commitStarted: { readonly at: number } }
  | { readonly id: number; readonly handlerEnded: { readonly at: number } }
  /** A function responds with its result, or with its error's message. */
  | { readonly id: number; readonly result: string }
  | { readonly id: number; readonly error: string };
