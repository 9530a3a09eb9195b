// A sample that is already running: its effects are read through its API, and in its tables and queues if these are given.

import { until } from "../../../../test/kit/time/until.ts";
import { createGate } from "../demo/gate.ts";
import type { Queues } from "../demo/queues.ts";
import { type Answer, nameOf } from "../demo/seen.ts";
import type { Tables } from "../demo/tables.ts";
import { openFoundQueues, openFoundTables } from "./find-engines.ts";
import { checkSample, type OrderId, readOrder } from "./order-api.ts";
import type { LoadPlan } from "./plan-load.ts";
import type { Effects, SeenOrder, Service } from "./service.ts";
import type { RunningTarget } from "./target.ts";

export interface RunningServiceOptions {
  readonly target: RunningTarget;
  readonly plan: LoadPlan;
  /** All that came back so far. */
  readonly answers: readonly Answer[];
  readonly signal: AbortSignal;
}

/** A message whose consumer ran out of time on a slow machine comes again after the visibility timeout, once or twice. */
const PATIENCE_SECONDS = 150;
const READS_AT_ONCE = 8;

/** @throws Error that says what to do if there is no sample, or more than one */
export async function findRunningService(options: RunningServiceOptions): Promise<Service> {
  const { target, plan, answers, signal } = options;
  const { url } = target;
  await checkSample(url, signal);
  const tables = target.dynamodb === undefined ? undefined : await openFoundTables(target.dynamodb);
  const queues = target.sqs === undefined ? undefined : await openFoundQueues(target.sqs);
  const isPlanned = plannedIn(plan);
  const seen = new Map<string, SeenOrder>();

  async function readOrders(): Promise<SeenOrder[]> {
    if (tables) {
      const rows = await tables.orders();
      return rows.filter(({ tenant, idempotencyKey: key }) => isPlanned({ tenant, key }));
    }
    const gate = createGate(READS_AT_ONCE);
    const read = async (wanted: OrderId) => {
      const before = seen.get(wanted.id);
      const order = before && before.state !== "created" ? before : await readOrder(url, wanted, signal);
      if (order) seen.set(wanted.id, order);
      return order ?? [];
    };
    const found = await Promise.all(idsIn(answers).map((wanted) => gate.shared(() => read(wanted))));
    return found.flat();
  }

  async function isAtRest(): Promise<boolean> {
    const { unsent = 0, queued = 0 } = await leftIn(tables, queues);
    const orders = await readOrders();
    return unsent === 0 && queued === 0 && orders.every(({ state }) => state !== "created");
  }

  return {
    url,
    description: "a sample that runs already",
    settle: async () => void (await until(isAtRest, { seconds: PATIENCE_SECONDS, signal })),
    async effects() {
      const orders = await readOrders();
      const ids = new Set(orders.map(({ id }) => id));
      const isOurs = ({ orderId }: { readonly orderId: string }) => ids.has(orderId);
      return {
        isAlone: false,
        orders,
        payments: (await tables?.payments())?.filter(isOurs),
        ledger: (await tables?.ledger())?.filter(isOurs),
        left: await leftIn(tables, queues),
      };
    },
    faults: () => undefined,
    async stop() {
      tables?.close();
      queues?.close();
    },
  };
}

/** Other clients' orders don't concern this run. */
function plannedIn({ orders }: LoadPlan) {
  const names = new Set(orders.map(nameOf));
  return (named: Parameters<typeof nameOf>[0]) => names.has(nameOf(named));
}

/** Every order that a client received. */
function idsIn(answers: readonly Answer[]): OrderId[] {
  const ids = new Map<string, OrderId>();
  for (const { tenant, key, status, location } of answers) {
    const id = status === 201 ? location?.replace(/^.*\//, "") : undefined;
    if (id) ids.set(id, { tenant, key, id });
  }
  return [...ids.values()];
}

async function leftIn(tables: Tables | undefined, queues: Queues | undefined): Promise<Effects["left"]> {
  const queued = await queues?.payments();
  const deadLetters = await queues?.deadLetters();
  return {
    unsent: await tables?.unsent(),
    queued: queued && queued.visible + queued.inFlight,
    deadLetters: deadLetters && deadLetters.visible + deadLetters.inFlight,
  };
}
