// A function that gets its events directly, on both sides. The key is a field of the event, and the rest of the event
// is checked against it.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import type { Context } from "aws-lambda";
import { idempotent, type Store } from "onceonly";
import type { DynamoDBWrite } from "onceonly/dynamodb";
import type { Invoke, LambdaHandler } from "./lambda-call.ts";

export interface OrderEvent {
  readonly orderId: string;
  readonly item: string;
}

export function onceonlyPlain(store: Store<DynamoDBWrite>): (handler: LambdaHandler) => Invoke {
  return (handler) =>
    idempotent(handler as never, {
      operation: "create-order",
      key: ({ orderId }: OrderEvent) => orderId,
      fingerprint: ({ item }: OrderEvent) => item,
      store,
    }) as unknown as Invoke;
}

export function powertoolsPlain(tableName: string): (handler: LambdaHandler) => Invoke {
  return (handler) =>
    makeIdempotent(handler as (event: unknown, context: Context) => Promise<unknown>, {
      persistenceStore: new DynamoDBPersistenceLayer({ tableName }),
      config: new IdempotencyConfig({
        throwOnNoIdempotencyKey: true,
        eventKeyJmesPath: "orderId",
        payloadValidationJmesPath: "item",
      }),
      keyPrefix: "create-order",
    });
}
