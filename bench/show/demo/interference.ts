// All that stands between the functions and what they use, and the clock of what feeds them.

import { type LeapingClock, leapingClock } from "../../../kit/time/leaping-clock.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createGateway, type Gateway } from "./gateway.ts";
import { type PaymentsQueue, paymentsQueue } from "./payments-queue.ts";
import type { Plan } from "./plan.ts";
import { readPlainRequests } from "./without/read-plain-requests.ts";

export interface Interference {
  readonly faults: Faults;
  readonly gateway: Gateway;
  readonly queue: PaymentsQueue;
  /** The time of queues, event sources and schedules; functions keep the machine's time. */
  readonly clock: LeapingClock;
}

export function createInterference(plan: Pick<Plan, "seed" | "faultShares">): Interference {
  return between(plan, createFaults(plan), createGateway());
}

/** For functions without onceonly, which write no records and give the gateway a new key each time. */
export function createInterferenceWithout(plan: Pick<Plan, "seed" | "faultShares">): Interference {
  return between(plan, createFaults(plan, readPlainRequests), createGateway(true));
}

function between(
  { seed, faultShares }: Pick<Plan, "seed" | "faultShares">,
  faults: Faults,
  gateway: Gateway,
): Interference {
  return { faults, gateway, queue: paymentsQueue(seed, faultShares.lostSends), clock: leapingClock() };
}
