/** The seam between what an event looks like (plain, HTTP) and how a handler is wrapped (Middy, plain function). */
import type { Work } from "../core/execution.ts";

/** Reads one event, before anything can change it. `undefined` lets the event pass without a record. */
export type Face<Write> = (event: unknown, context: unknown) => Run<Write> | undefined;

/** Runs work under the protocol. Resolves to the answer to the event, which an error of onceonly can be too. */
export type Run<Write> = (work: Work<Write>) => Promise<unknown>;
