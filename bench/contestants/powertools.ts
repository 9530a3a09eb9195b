// The peer, set up as its documentation says: its own table schema, its wrapper and its Middy middleware, the
// idempotency key required, and the payload checked against the key.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type { Invoke, LambdaHandler } from "./lambda-call.ts";
import type { World } from "./world.ts";

export interface PowertoolsSetup {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly handler: LambdaHandler;
  /** JMESPath of what names the operation; without it, the whole event does. */
  readonly key?: string;
  /** JMESPath of what must not change under one key. */
  readonly payload?: string;
}

/** One execution environment of a function that uses the wrapper. */
export function powertoolsWrapper(setup: PowertoolsSetup): Invoke {
  const handler = setup.handler as (event: unknown, context: Context) => Promise<unknown>;
  return makeIdempotent(handler, idempotencyOptions(setup));
}

/** One execution environment of a function that uses the middleware. */
export function powertoolsMiddleware(setup: PowertoolsSetup): Invoke {
  const handler = setup.handler as (event: unknown, context: Context) => Promise<unknown>;
  return middy(handler).use(makeHandlerIdempotent(idempotencyOptions(setup))) as unknown as Invoke;
}

/** A function behind an HTTP API: the header is the key, the body is checked against it. */
export function powertoolsHttp({ client, powertoolsTable }: World): (handler: LambdaHandler) => Invoke {
  const names = { key: 'headers."idempotency-key"', payload: "body" };
  return (handler) => powertoolsWrapper({ client, tableName: powertoolsTable, handler, ...names });
}

function idempotencyOptions({ client, tableName, key, payload }: PowertoolsSetup) {
  return {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client }),
    config: new IdempotencyConfig({
      throwOnNoIdempotencyKey: true,
      ...(key !== undefined && { eventKeyJmesPath: key }),
      ...(payload !== undefined && { payloadValidationJmesPath: payload }),
    }),
    keyPrefix: "create-order",
  };
}
