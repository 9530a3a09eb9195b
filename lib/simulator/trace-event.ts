/** What happened in a simulation, one thing at a time. */
import type { Fault } from "./fault.ts";
import type { Io } from "./io.ts";

export const TRACE_KINDS = ["host", "invocation", "io", "source"] as const;

export interface TraceEvent {
  /** Milliseconds since the simulation started. */
  readonly at: number;
  readonly kind: (typeof TRACE_KINDS)[number];
  /** An execution environment, or the event source. */
  readonly hostId: string;
  /** The number of the invocation; `undefined` where it is about none. */
  readonly invocation: number | undefined;
  /** Of kind `io` alone: what was asked, and the fault on it. */
  readonly io?: Io;
  readonly fault?: Fault | undefined;
  /** Of kind `io` alone: whether its caller had given it up when it was done. */
  readonly isGivenUp?: boolean;
  /** What happened: of an I/O how it ended, such as `ok` or the name of its error. */
  readonly text: string;
}
