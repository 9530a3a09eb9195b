// How the clients of each kind of order behave.
import { setTimeout as sleep } from "node:timers/promises";
import { identify } from "../../lib/core/identity.ts";
import type { Faults, Moment } from "./faults.ts";
import type { Gate } from "./gate.ts";
import type { Journal } from "./journal.ts";
import type { Behaviour, KillPoint, PlannedOrder } from "./plan.ts";
import type { ShopClient } from "./shop-client.ts";

export interface Scenery {
  readonly client: ShopClient;
  readonly gate: Gate;
  readonly faults: Pick<Faults, "onNext">;
  readonly journal: Pick<Journal, "killedAt">;
  /** SIGKILLs a process that runs an invocation now, if there is one. */
  readonly killBusyFunction: () => boolean;
  readonly signal: AbortSignal;
}

/** The operation of functions/create-order.ts: with tenant and key it names the record. */
const OPERATION = "create-order";

/** Settles when the clients of this order have their final answers. */
export function playOrder(order: PlannedOrder, scenery: Scenery): Promise<void> {
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
  { client, faults, signal }: Scenery,
): Promise<void> {
  const leaving = new AbortController();
  faults.onNext(recordKeyOf(order), giveUpAt, () => {
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

const MOMENT_OF: Readonly<Record<KillPoint, Moment>> = {
  "before-claim": "claim",
  "after-claim": "claim",
  "before-commit": "commit",
  "after-commit": "commit",
};

/** Alone with the service until the first try is over, so that the process that is hit is the one of this order. */
async function killTheFunction(
  order: PlannedOrder,
  { killAt, duplicates }: BehaviourOf<"killed">,
  { client, gate, faults, journal, killBusyFunction }: Scenery,
): Promise<void> {
  faults.onNext(recordKeyOf(order), MOMENT_OF[killAt], () => {
    if (killBusyFunction()) journal.killedAt(killAt);
    // What was asked by a process that is dead is carried out, or is not: nobody is there to hear of it.
    return killAt.startsWith("before") ? "throttle" : "pass";
  });
  let asking: Promise<void> | undefined;
  await gate.alone(
    () =>
      new Promise<void>((firstTryIsOver) => {
        let enter: Gate["shared"] = (task) => {
          enter = gate.shared;
          return task().finally(firstTryIsOver);
        };
        asking = client.ask(order, { enter: (task) => enter(task) }).finally(firstTryIsOver);
      }),
  );
  await Promise.all([asking, allAtOnce(duplicates, () => client.ask(order))]);
}

async function oneAfterTheOther(times: number, task: () => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time++) await task();
}

async function allAtOnce(times: number, task: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: times }, task));
}

function recordKeyOf({ tenant, key }: PlannedOrder): string {
  return identify(OPERATION, tenant, key).recordKey;
}
