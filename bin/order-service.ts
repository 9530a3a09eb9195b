// Orders: the HTTP API that accepts them, one per idempotency key, and shows them to their tenant.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import type { Construct } from "constructs";
import { CommitGrants, type DedupQueue, type IdempotencyTable, IdempotentFunction } from "onceonly/cdk";
import { BearerApi } from "./bearer-api.ts";
import { PlainFunction } from "./plain-function.ts";
import { SampleTable } from "./sample-table.ts";

export interface OrderServiceProps {
  readonly idempotency: IdempotencyTable;
  /** The queue of orders to be paid. */
  readonly paymentsQueue: DedupQueue;
  /** The SHA-256 (hex) of each tenant's bearer token. */
  readonly tokenDigests: Readonly<Record<string, string>>;
  /** The `service` dimension of its metrics. */
  readonly service: string;
  readonly removalPolicy: RemovalPolicy;
}

export interface OrderService {
  readonly orders: SampleTable;
  readonly createOrder: IdempotentFunction;
  readonly api: BearerApi;
}

export function addOrderService(scope: Construct, props: OrderServiceProps): OrderService {
  const { idempotency, paymentsQueue, tokenDigests, service, removalPolicy } = props;
  const orders = new SampleTable(scope, "Orders", { partitionKey: "tenant", sortKey: "id", removalPolicy });

  const createOrder = new IdempotentFunction(scope, "CreateOrder", {
    entry: "functions/create-order.ts",
    timeout: Duration.seconds(5),
    environment: {
      ORDERS_TABLE: orders.tableName,
      PAYMENTS_QUEUE_URL: paymentsQueue.queue.queueUrl,
      METRICS_SERVICE: service,
    },
    logRemovalPolicy: removalPolicy,
    table: idempotency,
    operations: ["create-order"],
    commits: true,
    // An answer has some 300 bytes.
    largeResults: false,
  });
  CommitGrants.fromTable(orders).actions(createOrder, "dynamodb:PutItem");

  const getOrder = new PlainFunction(scope, "GetOrder", {
    entry: "functions/get-order.ts",
    environment: { ORDERS_TABLE: orders.tableName },
    logRemovalPolicy: removalPolicy,
  });
  orders.grants.actions(getOrder, "dynamodb:GetItem");

  const api = new BearerApi(scope, "Api", { tokenDigests, logRemovalPolicy: removalPolicy });
  api.route(HttpMethod.POST, "/orders", createOrder);
  api.route(HttpMethod.GET, "/orders/{id}", getOrder);
  return { orders, createOrder, api };
}
