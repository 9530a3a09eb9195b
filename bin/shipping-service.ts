// Shipped orders: one saga that places, charges and ships an order, or undoes the steps that it has done.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import type { Construct } from "constructs";
import { CommitGrants, type IdempotencyTable, IdempotentFunction } from "onceonly/cdk";
import type { BearerApi } from "./bearer-api.ts";
import type { PaymentGateway } from "./payment-service.ts";
import { SampleTable } from "./sample-table.ts";

export interface ShippingServiceProps {
  readonly api: BearerApi;
  readonly idempotency: IdempotencyTable;
  readonly orders: SampleTable;
  readonly gateway: PaymentGateway;
  /** The `service` dimension of its metrics. */
  readonly service: string;
  readonly removalPolicy: RemovalPolicy;
}

/** @returns the function of the saga */
export function addShippingService(scope: Construct, props: ShippingServiceProps): IdempotentFunction {
  const { api, idempotency, orders, gateway, service, removalPolicy } = props;
  const stock = new SampleTable(scope, "Stock", { partitionKey: "sku", removalPolicy });
  const placeOrder = new IdempotentFunction(scope, "PlaceOrder", {
    entry: "functions/place-order-saga.ts",
    timeout: Duration.seconds(15),
    environment: {
      ORDERS_TABLE: orders.tableName,
      STOCK_TABLE: stock.tableName,
      GATEWAY_URL: gateway.url,
      GATEWAY_TOKEN: gateway.token,
      METRICS_SERVICE: service,
    },
    logRemovalPolicy: removalPolicy,
    table: idempotency,
    operations: ["place-order"],
    commits: true,
    // An answer has some 300 bytes.
    largeResults: false,
  });
  CommitGrants.fromTable(orders).actions(placeOrder, "dynamodb:PutItem", "dynamodb:UpdateItem");
  CommitGrants.fromTable(stock).actions(placeOrder, "dynamodb:UpdateItem");
  api.route(HttpMethod.POST, "/shipped-orders", placeOrder);
  return placeOrder;
}
