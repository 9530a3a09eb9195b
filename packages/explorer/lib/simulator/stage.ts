/** Shared by all parts of a simulation. */
import type { Activities } from "./activities.ts";
import type { Host } from "./host.ts";
import type { Network } from "./network.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { Services } from "./services.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface Stage {
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly network: Network;
  readonly services: Services;
  readonly activities: Activities;
  newHost(id: string, skewMs: number): Host;
  newInvocation(): number;
  /** @throws Error outside of `run`, when time stands still */
  checkRunning(what: string): void;
}
