// This package in the comparison, set up as its documentation says.
import {
  callerFromJwt,
  type HttpIdempotencyOptions,
  httpIdempotency,
  httpIdempotent,
  type IdempotencyOptions,
  idempotency,
  idempotent,
  runOnce,
} from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { OnceonlyContext } from "../../measure/contestants/onceonly.ts";
import { type Adapters, assemble } from "./contestant.ts";
import type { AdapterName, Contestant, Deployment, Lab } from "./lab.ts";

interface OrderEvent {
  readonly id: string;
}

export function onceonly(adapter: AdapterName): Contestant {
  return {
    package: "onceonly",
    adapter,
    partitionKey: "pk",
    deploy: (lab, deployment) => assemble(adapter, adaptersFor(lab, deployment), deployment),
    deployInner(lab, work) {
      const options = { operation: "create-order", ...storeOf(lab) };
      return (event) => runOnce(options, (event as OrderEvent).id, event, work);
    },
    storeOrder: ({ ordersTable: TableName }, context, { order }) =>
      (context as OnceonlyContext).idempotency.commit(
        { order },
        { writes: [{ Put: { TableName, Item: { id: String(order) } } }] },
      ),
  };
}

function adaptersFor(lab: Lab, { keyedBy = "id", operation = "create-order" }: Deployment): Adapters {
  const common = { operation, ...storeOf(lab) };
  if (keyedBy === "id" || keyedBy === "whole event") {
    // The whole event is checked against the key by default.
    const options: IdempotencyOptions<OrderEvent, DynamoDBWrite> = { ...common, key: ({ id }) => id };
    return {
      wrap: (handler) => idempotent(handler as never, options) as never,
      middleware: () => idempotency(options) as never,
    };
  }
  const scope = keyedBy === "header" ? "public" : callerFromJwt();
  // As the other side does.
  const options = { ...common, scope, whenInProgress: "reject" } as HttpIdempotencyOptions<
    never,
    DynamoDBWrite
  >;
  return {
    wrap: (handler) => httpIdempotent(handler as never, options) as never,
    middleware: () => httpIdempotency(options) as never,
  };
}

function storeOf({ client, recordsTable: tableName, clock }: Lab) {
  return { store: new DynamoDBStore({ tableName, client }), clock };
}
