// Kills the process that works on a saga, before or after one of its requests, while that request is under way.

import { deriveChildKey } from "../../../../../lib/core/child-key.ts";
import { identify } from "../../../../../lib/core/identity.ts";
import type { Carry } from "../../../../../test/kit/faults/middleman.ts";
import type { ObservedRequest, ProxyFault } from "../../../../local/lib/fault-proxy.ts";
import { OPERATIONS } from "../order-book.ts";
import { type WriteBody, writesOf } from "../request-reading.ts";
import { type PlannedSaga, SAGA_EFFECTS } from "./saga-plan.ts";

export interface SagaKills {
  /** From now on processes are killed. A `kill` that finds no process returns false, and is called again. */
  arm(kill: (saga: PlannedSaga) => boolean): void;
  /** `undefined` for a request at which no process is killed. */
  readonly decide: (request: ObservedRequest) => ProxyFault | undefined;
  /** @param charges carries charges at which no process is killed */
  carrying(charges: Carry): Carry;
  readonly killed: ReadonlySet<PlannedSaga>;
  /** How often the gateway was asked whether a charge is there. */
  readonly lookUps: number;
}

export function createSagaKills(sagas: readonly PlannedSaga[]): SagaKills {
  const planned = new Map(sagas.flatMap((saga) => (saga.kill ? [[requestOf(saga), saga] as const] : [])));
  const killed = new Set<PlannedSaga>();
  let kill: (saga: PlannedSaga) => boolean = () => false;
  let lookUps = 0;

  function killedAt(request: string): PlannedSaga | undefined {
    const saga = planned.get(request);
    if (!saga || killed.has(saga) || !kill(saga)) return undefined;
    killed.add(saga);
    return saga;
  }

  return {
    arm(armed) {
      kill = armed;
    },
    decide({ operation, body }) {
      if (operation !== "TransactWriteItems") return undefined;
      const [saga] = transactionsIn(body).flatMap((request) => killedAt(request) ?? []);
      // There is no process left to receive it: a throttled request does not come again.
      return saga && (saga.kill?.when === "before" ? "throttle" : "pass");
    },
    carrying: (charges) => async (request, handOn) => {
      if (request.method === "GET") lookUps++;
      const saga = killedAt(request.headers["idempotency-key"] ?? "");
      if (saga?.kill?.when === "after") await handOn(request);
      if (saga) return "no-answer";
      return request.method === "POST" && request.path === "/charges"
        ? charges(request, handOn)
        : handOn(request);
    },
    killed,
    get lookUps() {
      return lookUps;
    },
  };
}

/** A request to the gateway is known by its key, one to DynamoDB by record and step. */
function requestOf({ tenant, key, kill }: PlannedSaga): string {
  const { at, step } = SAGA_EFFECTS[kill!.effect];
  const identity = identify(OPERATIONS.saga, tenant, key);
  return at === "gateway" ? deriveChildKey(identity, step) : `${identity.recordKey} ${step}`;
}

type NamedWrite = WriteBody & { readonly ExpressionAttributeNames?: Readonly<Record<string, string>> };

/** Orders and stock have other partition keys. The commit at the end names no step. */
function transactionsIn(body: WriteBody): string[] {
  return writesOf(body).flatMap(({ Key, ExpressionAttributeNames }: NamedWrite) =>
    Key?.pk?.S === undefined ? [] : `${Key.pk.S} ${ExpressionAttributeNames?.["#name"] ?? ""}`,
  );
}
