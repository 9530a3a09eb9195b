// This package in the comparison, set up as its documentation says.
import {
  callerFromJwt,
  DynamoDBStore,
  type DynamoDBWrite,
  type HttpIdempotencyOptions,
  httpIdempotency,
  httpIdempotent,
  type IdempotencyOptions,
  idempotency,
  idempotent,
  runOnce,
} from "onceonly";
import type { OnceonlyContext } from "../../measure/contestants/onceonly.ts";
import { assemble, type Faces } from "./contestant.ts";
import type { Contestant, Deployment, FaceName, Lab } from "./lab.ts";

interface OrderEvent {
  readonly id: string;
}

export function onceonly(face: FaceName): Contestant {
  return {
    package: "onceonly",
    face,
    partitionKey: "pk",
    deploy: (lab, deployment) => assemble(face, facesFor(lab, deployment), deployment),
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

function facesFor(lab: Lab, { keyedBy = "id", operation = "create-order" }: Deployment): Faces {
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
