/** One event of a simulation. */
import type { Fault } from "./fault.ts";
import type { Io } from "./io.ts";

export const TRACE_KINDS = ["host", "invocation", "io", "refused", "source"] as const;

export interface TraceEvent {
  /** Milliseconds since the simulation started. */
  readonly at: number;
  readonly kind: (typeof TRACE_KINDS)[number];
  /** An execution environment, or the event source. */
  readonly hostId: string;
  /** The number of the invocation; `undefined` for an event without one. */
  readonly invocation: number | undefined;
  /** Only for the kind `io`: the request and its fault. */
  readonly io?: Io;
  readonly fault?: Fault | undefined;
  /** Only for the kind `io`: whether the caller had given up before the end. */
  readonly isGivenUp?: boolean;
  /** The event in words: the error of a refused request, or the end of an I/O, such as `ok` or an error's name. */
  readonly text: string;
}
