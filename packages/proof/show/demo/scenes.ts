// How the clients of each kind of order behave.
import { setTimeout as sleep } from "node:timers/promises";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import type { Faults } from "./faults.ts";
import type { Gate } from "./gate.ts";
import type { Journal } from "./journal.ts";
import { killAt } from "./kill-points.ts";
import { orderRecordKey } from "./order-book.ts";
import type { Behaviour } from "./order-plan.ts";
import type { PlannedOrder } from "./plan.ts";
import type { Queues } from "./queues.ts";
import type { ShopClient } from "./shop-client.ts";
import type { Witness } from "./witness.ts";

export interface Scenery {
  readonly client: ShopClient;
  readonly gate: Gate;
  readonly faults: Pick<Faults, "on">;
  readonly journal: Pick<Journal, "happened" | "orderIdOf">;
  readonly orderFunction: Pick<Witness<APIGatewayProxyEventV2>, "kill">;
  readonly queues: Pick<Queues, "sendAgain">;
  readonly signal: AbortSignal;
}

/** Settles when the clients of this order have their final answers, and its message was sent as often as planned. */
export async function playOrder(order: PlannedOrder, scenery: Scenery): Promise<void> {
  await playClients(order, scenery);
  if (order.payment.kind === "resent") await sendAgain(order, order.payment.times, scenery);
}

function playClients(order: PlannedOrder, scenery: Scenery): Promise<void> {
  const { behaviour } = order;
  const { client } = scenery;
  switch (behaviour.kind) {
    case "unique":
      return client.ask(order);
    case "sequential":
      return oneAfterTheOther(behaviour.duplicates + 1, () => client.ask(order));
    case "concurrent":
      return allAtOnce(behaviour.duplicates + 1, () => client.ask(order));
    case "abandoned":
      return giveUpAndComeBack(order, behaviour, scenery);
    case "reused":
      return reuseTheKey(order, behaviour, scenery);
    case "killed":
      return killTheFunction(order, behaviour, scenery);
  }
}

type BehaviourOf<Kind> = Behaviour & { readonly kind: Kind };

async function giveUpAndComeBack(
  order: PlannedOrder,
  { giveUpAt, backAfterMs }: BehaviourOf<"abandoned">,
  { client, faults, journal, signal }: Scenery,
): Promise<void> {
  const leaving = new AbortController();
  const stop = faults.on(orderRecordKey(order), giveUpAt, () => {
    stop();
    leaving.abort(new Error("the user left"));
    return "pass";
  });
  let kept = "";
  await client.ask(order, {
    signal: leaving.signal,
    onKey: (key) => {
      kept = key;
    },
  });
  if (leaving.signal.aborted) journal.happened(order, "client gave up");
  await sleep(backAfterMs, undefined, { signal }).catch(() => undefined);
  await client.ask({ ...order, key: kept });
}

async function reuseTheKey(
  order: PlannedOrder,
  { otherBody }: BehaviourOf<"reused">,
  { client }: Scenery,
): Promise<void> {
  await client.ask(order);
  await client.ask(order, { otherBody });
  await client.ask(order);
}

/** The others come after the first try, so the process that is hit is the first client's. */
async function killTheFunction(
  order: PlannedOrder,
  behaviour: BehaviourOf<"killed">,
  { client, gate, faults, journal, orderFunction }: Scenery,
): Promise<void> {
  killAt(faults, orderRecordKey(order), behaviour.killAt, () => {
    const isKilled = orderFunction.kill((event) => asksFor(order, event));
    if (isKilled) journal.happened(order, `order function killed ${behaviour.killAt}`);
    return isKilled;
  });
  let asking: Promise<void> | undefined;
  await new Promise<void>((firstTryIsOver) => {
    const enter: Gate["shared"] = (task) => gate.shared(task).finally(firstTryIsOver);
    asking = client.ask(order, { enter }).finally(firstTryIsOver);
  });
  await Promise.all([asking, allAtOnce(behaviour.duplicates, () => client.ask(order))]);
}

async function sendAgain(order: PlannedOrder, times: number, { journal, queues }: Scenery): Promise<void> {
  const orderId = journal.orderIdOf(order);
  if (orderId === undefined) return;
  for (let attempt = 1; attempt <= times; attempt++) {
    await queues.sendAgain({ tenant: order.tenant, orderId }, attempt);
    journal.happened(order, "sent again by a producer");
  }
}

async function oneAfterTheOther(times: number, task: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time++) await task();
}

async function allAtOnce(times: number, task: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: times }, task));
}

/** The key comes as a quoted string, and no planned key has anything to escape. */
export function asksFor(
  { tenant, key }: Pick<PlannedOrder, "tenant" | "key">,
  event: APIGatewayProxyEventV2,
): boolean {
  const { authorizer } = event.requestContext as { authorizer?: { lambda?: { tenant?: string } } };
  return authorizer?.lambda?.tenant === tenant && `${event.headers["idempotency-key"]}`.includes(key);
}
