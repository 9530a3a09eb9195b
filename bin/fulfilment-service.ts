// Fulfilled orders: a durable function that places, charges and ships an order over hours or days, and the function that starts
// one execution of it per idempotency key.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import type { Construct } from "constructs";
import { CommitGrants, type IdempotencyTable, IdempotentFunction, UseStartOnce } from "onceonly/cdk";
import type { BearerApi } from "./bearer-api.ts";
import type { PaymentGateway } from "./payment-service.ts";
import { PlainFunction } from "./plain-function.ts";
import { SampleTable } from "./sample-table.ts";

export interface FulfilmentServiceProps {
  readonly api: BearerApi;
  readonly idempotency: IdempotencyTable;
  readonly orders: SampleTable;
  readonly gateway: PaymentGateway;
  /** The `service` dimension of its metrics. */
  readonly service: string;
  readonly removalPolicy: RemovalPolicy;
}

/** @returns the durable function */
export function addFulfilmentService(scope: Construct, props: FulfilmentServiceProps): IdempotentFunction {
  const { api, idempotency, orders, gateway, service, removalPolicy } = props;
  const shipments = new SampleTable(scope, "Shipments", {
    partitionKey: "tenant",
    sortKey: "orderId",
    removalPolicy,
  });
  const fulfilOrder = new IdempotentFunction(scope, "FulfilOrder", {
    entry: "functions/fulfil-order.ts",
    // Of one invocation. An execution may also wait, for a day by default.
    timeout: Duration.seconds(15),
    durableConfig: { executionTimeout: Duration.days(7) },
    environment: {
      ORDERS_TABLE: orders.tableName,
      SHIPMENTS_TABLE: shipments.tableName,
      GATEWAY_URL: gateway.url,
      GATEWAY_TOKEN: gateway.token,
      METRICS_SERVICE: service,
    },
    logRemovalPolicy: removalPolicy,
    table: idempotency,
    // Each step has a record under its own name.
    operations: ["fulfil-order", "place", "charge", "ship"],
    commits: true,
    largeResults: false,
  });
  CommitGrants.fromTable(orders).actions(fulfilOrder, "dynamodb:PutItem", "dynamodb:UpdateItem");
  CommitGrants.fromTable(shipments).actions(fulfilOrder, "dynamodb:PutItem");

  const startFulfilment = new PlainFunction(scope, "StartFulfilment", {
    entry: "functions/start-fulfilment.ts",
    environment: {},
    logRemovalPolicy: removalPolicy,
  });
  startFulfilment.with(new UseStartOnce(fulfilOrder.addAlias("live")));
  api.route(HttpMethod.POST, "/fulfilled-orders", startFulfilment);
  return fulfilOrder;
}
