// This package, as a user sets it up: a store on its own table, its wrapper for HTTP.
import type { Context } from "aws-lambda";
import { type HttpIdempotencyOptions, httpIdempotent, type Store, type WithIdempotency } from "onceonly";
import type { DynamoDBClientLike } from "onceonly/dynamodb";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { Invoke, LambdaHandler } from "./lambda-call.ts";
import { created, newOrder, type World } from "./world.ts";

export type OnceonlyContext = Context & WithIdempotency<DynamoDBWrite>;

type Records =
  | { readonly store: Store<DynamoDBWrite> }
  | { readonly client: DynamoDBClientLike; readonly tableName: string };

/** A function for an HTTP API. */
export function onceonlyHttp(
  records: Records,
  options: Partial<HttpIdempotencyOptions<never, DynamoDBWrite>> = {},
): (handler: LambdaHandler) => Invoke {
  const store = "store" in records ? records.store : new DynamoDBStore(records);
  // As the other side does: a wait is time and reads, which no side is charged with.
  const refusing = { whenInProgress: "reject", ...options } as const;
  const all = { operation: "create-order", scope: "public", store, ...refusing } as const;
  return (handler) => httpIdempotent(handler as never, all) as unknown as Invoke;
}

/** A handler whose order is written in one transaction with its result, and with a message if one is to be sent. */
export function committingOrder(
  { ordersTable }: Pick<World, "ordersTable">,
  withMessage = false,
  orderOf = newOrder,
): LambdaHandler {
  return async (_event, context) => {
    const order = orderOf();
    const answer = created(JSON.stringify(order));
    const { idempotency } = context as OnceonlyContext;
    const message = { queue: QUEUE_URL, key: order.id, group: order.id, body: { orderId: order.id } };
    return idempotency.commit(answer, {
      writes: [{ Put: { TableName: ordersTable, Item: order } }],
      messages: withMessage ? [message] : [],
    });
  };
}

/** No messages are sent to it here: a relay would read the message from the table's stream. */
const QUEUE_URL = "https://sqs.us-east-1.amazonaws.com/123456789012/payments.fifo";
