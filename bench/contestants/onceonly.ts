// This package, as a user sets it up: a store on its own table, its wrappers and its Middy middlewares.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import {
  DynamoDBStore,
  type DynamoDBWrite,
  type HttpIdempotencyOptions,
  httpIdempotency,
  httpIdempotent,
  type IdempotencyOptions,
  idempotency,
  idempotent,
  type WithIdempotency,
} from "onceonly";
import type { Invoke, LambdaHandler } from "./lambda-call.ts";
import { created, newOrder, type World } from "./world.ts";

type Handler = (event: unknown, context: Context) => Promise<unknown>;

export type OnceonlyContext = Context & WithIdempotency<DynamoDBWrite>;

/** For plain events whose `id` is the key. */
export interface OnceonlySetup extends Partial<IdempotencyOptions<{ readonly id: string }, DynamoDBWrite>> {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly handler: LambdaHandler;
}

/** One execution environment of a function that uses the wrapper. */
export function onceonlyWrapper(setup: OnceonlySetup): Invoke {
  return idempotent(setup.handler as Handler, optionsOf(setup) as never) as unknown as Invoke;
}

/** One execution environment of a function that uses the middleware. */
export function onceonlyMiddleware(setup: OnceonlySetup): Invoke {
  const middleware = idempotency(optionsOf(setup));
  return middy(setup.handler as Handler).use(middleware as never) as unknown as Invoke;
}

function optionsOf({ client, tableName, handler: _, ...options }: OnceonlySetup) {
  return {
    operation: "create-order",
    store: new DynamoDBStore({ tableName, client }),
    key: ({ id }: { readonly id: string }) => id,
    ...options,
  };
}

/** A function behind an HTTP API: as a wrapper, or as a middleware. */
export function onceonlyHttp(
  { client, tableName }: Pick<OnceonlySetup, "client" | "tableName">,
  options: Partial<HttpIdempotencyOptions<never, DynamoDBWrite>> = {},
  face: "wrapper" | "middleware" = "wrapper",
): (handler: LambdaHandler) => Invoke {
  const store = new DynamoDBStore({ tableName, client });
  const all = { operation: "create-order", scope: "public", store, ...options } as const;
  return (handler) =>
    (face === "wrapper"
      ? httpIdempotent(handler as never, all)
      : middy(handler as Handler).use(httpIdempotency(all) as never)) as unknown as Invoke;
}

/** A handler whose order is written in one transaction with its result. */
export function committingOrder({ ordersTable }: World): LambdaHandler {
  return async (_event, context) => {
    const order = newOrder();
    const answer = created(JSON.stringify(order));
    const { idempotency } = context as OnceonlyContext;
    return idempotency.commit(answer, { writes: [{ Put: { TableName: ordersTable, Item: order } }] });
  };
}
