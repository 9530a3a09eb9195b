// The peer, set up as its documentation says: with its own table schema and wrapper, the idempotency key
// required, and the payload checked against the key. Without a client it creates its default one.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import type { Context } from "aws-lambda";
import type { Invoke, LambdaHandler } from "./lambda-call.ts";
import type { World } from "./world.ts";

type Records = Pick<World, "powertoolsTable"> & Partial<Pick<World, "client">>;

/** A function for an HTTP API: the header is the key, the body is checked against it. */
export function powertoolsHttp({ client, powertoolsTable }: Records): (handler: LambdaHandler) => Invoke {
  return (handler) =>
    makeIdempotent(handler as (event: unknown, context: Context) => Promise<unknown>, {
      persistenceStore: new DynamoDBPersistenceLayer({ tableName: powertoolsTable, awsSdkV3Client: client }),
      config: new IdempotencyConfig({
        throwOnNoIdempotencyKey: true,
        eventKeyJmesPath: 'headers."idempotency-key"',
        payloadValidationJmesPath: "body",
      }),
      keyPrefix: "create-order",
    });
}
