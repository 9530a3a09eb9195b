// The orders whose processes are killed, in the middle of others, and early: any attempt after a kill waits for a lease.

import { until } from "../../../../test/kit/time/until.ts";
import type { Journal } from "./journal.ts";
import type { PlannedOrder } from "./plan.ts";
import type { Players } from "./players.ts";

export interface KillsOptions {
  readonly journal: Pick<Journal, "has">;
  readonly letIn: Players["letIn"];
  readonly signal: AbortSignal;
}

const PATIENCE_SECONDS = 10;

/**
 * One consumer is killed after the other. If two orders with a kill shared a batch, the second would have to wait for the
 * lease that the first one leaves.
 */
export async function playKills(
  orders: readonly PlannedOrder[],
  { journal, letIn, signal }: KillsOptions,
): Promise<void> {
  const kills = orders.filter(isConsumerKill);
  const others = orders.filter((order) => !isConsumerKill(order));
  // To be in its batch, or to come while there is no consumer.
  const companions = Math.floor(others.length / (kills.length + 1));
  const waiting = [...others.filter(isFunctionKill), ...others.filter((order) => !isFunctionKill(order))];
  const lettingIn: Promise<void>[] = [];
  try {
    for (const order of kills) {
      lettingIn.push(letIn([order, ...waiting.splice(0, companions)]));
      await until(() => isKilled(order, journal), { seconds: PATIENCE_SECONDS, signal });
    }
    lettingIn.push(letIn(waiting));
  } finally {
    await Promise.allSettled(lettingIn);
  }
  await Promise.all(lettingIn);
}

/** Without those whose function is killed, too: their messages come when its lease has ended, whenever that is. */
function isConsumerKill(order: PlannedOrder): boolean {
  return order.payment.kind === "killed" && !isFunctionKill(order);
}

function isKilled(order: PlannedOrder, journal: KillsOptions["journal"]): boolean {
  const { payment } = order;
  return payment.kind === "killed" && journal.has(order, `consumer killed ${payment.killAt}`);
}

function isFunctionKill({ behaviour }: PlannedOrder): boolean {
  return behaviour.kind === "killed";
}
