// The ways in which a call comes to its handler: runOnce, a wrapped Lambda handler, HTTP, Middy.
import middy from "@middy/core";
import {
  type Decision,
  type Execution,
  type HttpRequestEvent,
  httpIdempotency,
  httpIdempotent,
  idempotent,
  type LambdaContext,
  runOnce,
} from "onceonly";
import type { DynamoDBWrite } from "onceonly/dynamodb";
import type { EngineOptions } from "onceonly/store-kit";
import { fakeLambdaContext } from "../../../../../lib/testing/fake-lambda-context.ts";
import type { Ask } from "../asking.ts";
import type { Adapter, Variant } from "../variants.ts";
import type { Said } from "./handlers.ts";
import type { World } from "./world.ts";

export interface Visit {
  readonly ask: Ask;
  readonly variant: Variant;
  readonly world: World;
  readonly observe: (decision: Decision) => void;
  readonly work: (execution: Execution<DynamoDBWrite>, form: (said: Said) => unknown) => Promise<unknown>;
}

const STATUS: Readonly<Record<Said["says"], number>> = {
  done: 201,
  declined: 503,
  "sold-out": 409,
  exists: 409,
};

export const ADAPTERS: Readonly<Record<Adapter, (visit: Visit) => Promise<unknown>>> = {
  "run-once"(visit) {
    const { ask, variant, work } = visit;
    const leaseSeconds = ask.remainingMs / 1000;
    const options = { ...optionsOf(visit), ...STORING, ...(variant.mode === "claimed" && { leaseSeconds }) };
    return runOnce(options, ask.input.key, ask.input, (execution) => work(execution, asItIs));
  },

  plain(visit) {
    const { ask, work } = visit;
    const options = { ...optionsOf(visit), ...STORING, key: () => ask.input.key };
    const handler = idempotent<unknown, unknown, DynamoDBWrite>(
      async (_event: unknown, { idempotency }) => work(idempotency, asItIs),
      options,
    );
    return handler(ask.input, contextOf(ask));
  },

  http(visit) {
    const { ask, work } = visit;
    const handler = httpIdempotent<unknown, object, DynamoDBWrite>(
      async (_event: object, { idempotency }) => work(idempotency, asResponse),
      { ...optionsOf(visit), scope: "public" },
    );
    return handler(eventOf(ask), contextOf(ask));
  },

  middy(visit) {
    const { ask, work } = visit;
    const handler = middy()
      .use(httpIdempotency<HttpRequestEvent, DynamoDBWrite>({ ...optionsOf(visit), scope: "public" }))
      .handler(async (_event, { idempotency }) => work(idempotency, asResponse));
    return handler(eventOf(ask) as never, contextOf(ask) as never);
  },
};

const STORING = { shouldStore: (said: unknown) => (said as Said).says === "done" };

function optionsOf({ variant, world, observe }: Visit): Omit<EngineOptions<DynamoDBWrite>, "fingerprint"> {
  return {
    operation: variant.name,
    mode: variant.mode,
    store: world.store,
    clock: world.clock,
    clockSkewSeconds: world.clockSkewSeconds,
    observe: ({ decision }) => observe(decision),
    ...variant.options,
  };
}

/** Its time is the machine's: a host's own clock counts for the protocol only. */
export function contextOf({ remainingMs }: Pick<Ask, "remainingMs">): LambdaContext {
  return fakeLambdaContext({ remainingMs, clock: Date });
}

function eventOf({ input }: Ask): object {
  return {
    version: "2.0",
    rawPath: "/orders",
    rawQueryString: "",
    headers: { "idempotency-key": `"${input.key}"` },
    requestContext: { http: { method: "POST" } },
    body: JSON.stringify(input),
    isBase64Encoded: false,
  };
}

function asItIs(said: Said): unknown {
  return said;
}

function asResponse(said: Said): object {
  const headers = { "content-type": "application/json" };
  return { statusCode: STATUS[said.says], headers, body: JSON.stringify(said) };
}
