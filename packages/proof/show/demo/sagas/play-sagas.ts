// The sagas' clients, and the reconciler that settles held keys.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { createIdempotentFetch } from "onceonly/client";
import { DynamoDBStore } from "onceonly/dynamodb";
import { httpLookup, reconciler, type VerifyRecord } from "onceonly/reconciler";
import { DEMO_TOKENS, SANDBOX_TOKENS } from "../../../../../bin/demo-tokens.ts";
import { leapingClock } from "../../../../../test/kit/time/leaping-clock.ts";
import { createGate } from "../gate.ts";
import { OPERATIONS } from "../order-book.ts";
import { asksFor } from "../scenes.ts";
import { nameOf } from "../seen.ts";
import type { Tables } from "../tables.ts";
import type { Witness } from "../witness.ts";
import type { SagaKills } from "./saga-kills.ts";
import type { SagaAnswer, SagasPlayed } from "./saga-observation.ts";
import { type PlannedSaga, SAGA_EFFECTS } from "./saga-plan.ts";

export interface PlaySagasOptions {
  readonly sagas: readonly PlannedSaga[];
  readonly kills: SagaKills;
  readonly stage: {
    readonly url: string;
    readonly gatewayUrl: string;
    readonly sagaFunction: Pick<Witness<APIGatewayProxyEventV2>, "kill">;
    readonly tables: Pick<Tables, "names" | "client">;
  };
  readonly signal: AbortSignal;
}

/** Each uses a process of the function, in addition to those of the orders. */
const REQUESTS_AT_ONCE = 4;
/** Longer than any lease. */
const DEADLINE_SECONDS = 90;
/** Longer than the gateway's look-up may lag, and than a pause between two questions. */
const LEAP_SECONDS = 1000;
const MOST_RUNS = 3;

/** Resolves when each client has its last answer. */
export async function playSagas({ sagas, kills, stage, signal }: PlaySagasOptions): Promise<SagasPlayed> {
  const answers: SagaAnswer[] = [];
  const endings: SagasPlayed["endings"][number][] = [];
  const held = new Set<PlannedSaga>();
  const gate = createGate(REQUESTS_AT_ONCE);
  const idempotentFetch = createIdempotentFetch({
    deadlineSeconds: DEADLINE_SECONDS,
    firstDelaySeconds: 0.2,
  });
  let requests = 0;

  async function tryOnce(saga: PlannedSaga, input: Request, init: RequestInit): Promise<Response> {
    requests++;
    const response = await fetch(input, init);
    const body = await response.text();
    const { tenant, key } = saga;
    const { status, headers } = response;
    const isFinal = status < 300 || (status === 409 && !headers.has("retry-after"));
    answers.push({ tenant, key, status, body, isFinal });
    if (!body.includes('"OUTCOME_UNKNOWN"')) return new Response(body, { status, headers });
    // Without `Retry-After` the client ends: it comes again when the key is settled.
    held.add(saga);
    return new Response(body, { status });
  }

  async function ask(saga: PlannedSaga, isLast: boolean): Promise<void> {
    const { tenant, key, body } = saga;
    const ended = (ending: Pick<SagasPlayed["endings"][number], "status" | "failure">) => {
      if (isLast || !held.has(saga)) endings.push({ tenant, key, ...ending });
    };
    try {
      const response = await idempotentFetch(`${stage.url}/shipped-orders`, {
        method: "POST",
        headers: { authorization: `Bearer ${DEMO_TOKENS[tenant]}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        key,
        signal,
        fetch: (input, init) => gate.shared(() => tryOnce(saga, input, init)),
      });
      ended({ status: response.status });
    } catch (error) {
      ended({ failure: String(error) });
    }
  }

  kills.arm((saga) => stage.sagaFunction.kill((event) => asksFor(saga, event)));
  await Promise.all(sagas.map((saga) => ask(saga, false)));
  signal.throwIfAborted();
  const reconciled = held.size === 0 ? 0 : await reconcile(stage, held.size);
  // Those that were held go on, and the others are replayed.
  await Promise.all(sagas.map((saga) => ask(saga, true)));
  signal.throwIfAborted();
  const names = (all: Iterable<PlannedSaga>) => Array.from(all, nameOf);
  const { killed, lookUps } = kills;
  return { requests, answers, endings, killed: names(killed), held: names(held), lookUps, reconciled };
}

/** No process works on a saga at this point, so the time for which look-ups may lag passes immediately. */
async function reconcile({ gatewayUrl, tables }: PlaySagasOptions["stage"], held: number): Promise<number> {
  const { step } = SAGA_EFFECTS.charge;
  const findCharge: VerifyRecord = httpLookup({
    url: ({ childKey }) => `${gatewayUrl}/charges?key=${childKey(step)}`,
    headers: () => ({ authorization: `Bearer ${SANDBOX_TOKENS.shop}` }),
    found: (body) => (body as { charges: { chargeId: string }[] }).charges[0],
  });
  const clock = leapingClock();
  const run = reconciler({
    store: new DynamoDBStore({ tableName: tables.names.records, client: tables.client }),
    operations: { [OPERATIONS.saga]: { steps: { [step]: findCharge } } },
    observe: () => undefined,
    clock,
  });
  let settled = 0;
  for (let runs = 0; runs < MOST_RUNS && settled < held; runs++) {
    clock.leap(LEAP_SECONDS);
    const { happened, didNotHappen } = await run();
    settled += happened + didNotHappen;
  }
  return settled;
}
