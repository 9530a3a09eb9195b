// The plan for functions without onceonly: the same orders, duplicates and crashes. Pure.
import type { Behaviour } from "../order-plan.ts";
import type { Plan } from "../plan.ts";

/**
 * There is no outbox, so neither are there relays to kill, nor messages that wait for a queue. There are no sagas: the other
 * functions are as they were, with nothing around them. A saga would have to be rewritten, well or badly.
 */
export function planWithout(plan: Plan): Plan {
  const orders = plan.orders.map((order) => ({
    ...order,
    behaviour: aroundTheWrite(order.behaviour),
    dispatch: { kind: "relayed" } as const,
  }));
  return { ...plan, receipts: 0, sagas: [], orders };
}

/** The order function makes one write and no claim, so disturbances around a claim happen before the write. */
function aroundTheWrite(behaviour: Behaviour): Behaviour {
  if (behaviour.kind === "abandoned") return { ...behaviour, giveUpAt: "commit" };
  if (behaviour.kind !== "killed" || behaviour.killAt === "after-commit") return behaviour;
  return { ...behaviour, killAt: "before-commit" };
}
