/** The seam between what an event looks like (plain, HTTP) and how a handler is wrapped (Middy, plain function). */
import type { Call } from "../core/operation.ts";
import type { ResolvedOptions } from "../core/options.ts";
import type { Outcome } from "../core/refusal.ts";

/** One event and its answer. Reads the event once, before anything can change it. */
export interface Exchange {
  /** `undefined` lets the event pass without a record. */
  readonly call: () => Call | undefined;
  readonly answer: (outcome: Outcome) => unknown;
  /** Turns an error into an answer, or throws it. */
  readonly refuse: (error: unknown) => unknown;
}

export interface Face<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly begin: (event: unknown, context: unknown) => Exchange;
}
