// The stack of examples/outbox: an API takes orders, a relay sends their messages, and a consumer pays each order once.
import { Stack, type StackProps } from "aws-cdk-lib";
import { HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpJwtAuthorizer } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";
import { CommitGrants, DedupQueue, IdempotencyTable, IdempotentFunction, OutboxRelay } from "onceonly/cdk";

export interface OrdersStackProps extends StackProps {
  /** Whose tokens the API accepts. */
  readonly issuer: string;
  readonly audience: string;
}

export class OrdersStack extends Stack {
  constructor(scope: Construct, id: string, { issuer, audience, ...props }: OrdersStackProps) {
    super(scope, id, props);
    const partitionKey = { name: "id", type: AttributeType.STRING };
    const orders = new TableV2(this, "Orders", { partitionKey });
    const ledger = new TableV2(this, "Ledger", { partitionKey });
    const table = new IdempotencyTable(this, "Idempotency", { outbox: true });
    const payments = new DedupQueue(this, "Payments");
    new OutboxRelay(this, "Relay", { table, destinations: [payments.queue] });

    const createOrder = new IdempotentFunction(this, "CreateOrder", {
      entry: "examples/outbox/handler.ts",
      table,
      operations: ["create-order"],
      commits: true,
      environment: { ORDERS_TABLE: orders.tableName, PAYMENTS_QUEUE_URL: payments.queueUrl },
    });
    // A commit writes through the transaction of its record, so it needs no more than this.
    CommitGrants.fromTable(orders).actions(createOrder, "dynamodb:PutItem");

    const payOrder = new IdempotentFunction(this, "PayOrder", {
      entry: "examples/outbox/consumer.ts",
      table,
      operations: ["pay-order"],
      environment: { ORDERS_TABLE: orders.tableName, LEDGER_TABLE: ledger.tableName },
    });
    CommitGrants.fromTable(orders).actions(payOrder, "dynamodb:UpdateItem");
    CommitGrants.fromTable(ledger).actions(payOrder, "dynamodb:PutItem");
    payments.addConsumer(payOrder);

    new HttpApi(this, "Api").addRoutes({
      path: "/orders",
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration("CreateOrder", createOrder),
      authorizer: new HttpJwtAuthorizer("Callers", issuer, { jwtAudience: [audience] }),
    });
  }
}
