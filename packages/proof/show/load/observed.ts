// What a run of the load saw, and nothing it expected: thresholds and report are made from this alone.
import type { Answer } from "../demo/seen.ts";
import type { LoadOrder } from "./plan-load.ts";
import type { Sent } from "./send-asks.ts";
import type { Effects, InjectedFaults } from "./service.ts";

export interface Observed {
  readonly sent: Sent;
  readonly answers: readonly Answer[];
  /** Orders whose last request had no order for an answer. */
  readonly stuck: readonly LoadOrder[];
  readonly effects: Effects;
  readonly faults: InjectedFaults | undefined;
}
