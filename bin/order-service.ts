// Orders: the HTTP API that takes them, one per idempotency key, and shows them to their tenant.
import type { RemovalPolicy } from "aws-cdk-lib";
import { type HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { type IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { BearerApi } from "./bearer-api.ts";
import { SampleFunction } from "./sample-function.ts";
import { SampleTable } from "./sample-table.ts";

export interface OrderServiceProps {
  readonly idempotency: IdempotencyTable;
  /** Where orders go to be paid. */
  readonly paymentsQueue: Queue;
  /** The SHA-256 (hex) of each tenant's bearer token. */
  readonly tokenDigests: Readonly<Record<string, string>>;
  readonly removalPolicy: RemovalPolicy;
}

export interface OrderService {
  readonly orders: SampleTable;
  readonly api: HttpApi;
}

export function addOrderService(scope: Construct, props: OrderServiceProps): OrderService {
  const { idempotency, paymentsQueue, tokenDigests, removalPolicy } = props;
  const orders = new SampleTable(scope, "Orders", { partitionKey: "tenant", sortKey: "id", removalPolicy });

  const createOrder = new SampleFunction(scope, "CreateOrder", {
    file: "create-order",
    environment: { ORDERS_TABLE: orders.tableName, PAYMENTS_QUEUE_URL: paymentsQueue.queueUrl },
    removalPolicy,
  });
  createOrder.with(new UseIdempotency(idempotency));
  orders.grantInTransactions(createOrder, "dynamodb:PutItem");

  const getOrder = new SampleFunction(scope, "GetOrder", {
    file: "get-order",
    environment: { ORDERS_TABLE: orders.tableName },
    removalPolicy,
  });
  orders.grants.actions(getOrder, "dynamodb:GetItem");

  const api = new BearerApi(scope, "Api", { tokenDigests, removalPolicy });
  api.route(HttpMethod.POST, "/orders", createOrder);
  api.route(HttpMethod.GET, "/orders/{id}", getOrder);
  return { orders, api };
}
