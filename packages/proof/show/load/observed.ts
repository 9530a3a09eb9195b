// A load run's observations, and none of its expectations: thresholds and report are derived only from these.
import type { Answer } from "../demo/seen.ts";
import type { LoadOrder } from "./plan-load.ts";
import type { Sent } from "./send-asks.ts";
import type { Effects, InjectedFaults } from "./service.ts";

export interface Observed {
  readonly sent: Sent;
  readonly answers: readonly Answer[];
  /** Orders whose last request did not return an order. */
  readonly stuck: readonly LoadOrder[];
  readonly effects: Effects;
  readonly faults: InjectedFaults | undefined;
}
