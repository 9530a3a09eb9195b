// Everything between the functions and the services they use, and the clock of their event sources.

import { type LeapingClock, leapingClock } from "../../../../test/kit/time/leaping-clock.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createGateway, type Gateway } from "./gateway.ts";
import { type PaymentsQueue, paymentsQueue } from "./payments-queue.ts";
import type { Plan } from "./plan.ts";
import { createSagaKills, type SagaKills } from "./sagas/saga-kills.ts";
import { readPlainRequests } from "./without/read-plain-requests.ts";

type DisturbedPlan = Pick<Plan, "seed" | "faultShares"> & Partial<Pick<Plan, "sagas">>;

export interface Interference {
  readonly faults: Faults;
  readonly gateway: Gateway;
  readonly queue: PaymentsQueue;
  readonly sagaKills: SagaKills;
  /** The time of queues, event sources and schedules; functions keep the machine's time. */
  readonly clock: LeapingClock;
}

export function createInterference(plan: DisturbedPlan): Interference {
  return between(plan, createFaults(plan), createGateway());
}

/** For functions without onceonly, which write no records and give the gateway a new key each time. */
export function createInterferenceWithout(plan: DisturbedPlan): Interference {
  return between(plan, createFaults(plan, readPlainRequests), createGateway(true));
}

function between(
  { seed, faultShares, sagas = [] }: DisturbedPlan,
  faults: Faults,
  gateway: Gateway,
): Interference {
  const queue = paymentsQueue(seed, faultShares.lostSends);
  return { faults, gateway, queue, sagaKills: createSagaKills(sagas), clock: leapingClock() };
}
