// Payments: a queue of orders to be paid, and the consumer that lets the gateway charge each order once.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { CommitGrants, DedupQueue, type IdempotencyTable, IdempotentFunction } from "onceonly/cdk";
import { SampleTable } from "./sample-table.ts";

const CHARGE_TIMEOUT = Duration.seconds(10);

export interface PaymentGateway {
  readonly url: string;
  readonly token: string;
}

export interface PaymentServiceProps {
  readonly queue: DedupQueue;
  readonly idempotency: IdempotencyTable;
  readonly orders: SampleTable;
  readonly gateway: PaymentGateway;
  /** The `service` dimension of its metrics. */
  readonly service: string;
  readonly removalPolicy: RemovalPolicy;
}

/** Orders to be paid, each in its own message group. */
export function addPaymentsQueue(scope: Construct, removalPolicy: RemovalPolicy): DedupQueue {
  return new DedupQueue(scope, "PaymentsQueue", {
    visibilityTimeout: Duration.seconds(6 * CHARGE_TIMEOUT.toSeconds()),
    // The gateway may be down for ten minutes.
    maxReceiveCount: 10,
    removalPolicy,
  });
}

/** @returns the consumer of the queue */
export function addPaymentService(scope: Construct, props: PaymentServiceProps): IdempotentFunction {
  const { queue, idempotency, orders, gateway, service, removalPolicy } = props;
  const payments = new SampleTable(scope, "Payments", {
    partitionKey: "tenant",
    sortKey: "orderId",
    removalPolicy,
  });
  const chargePayment = new IdempotentFunction(scope, "ChargePayment", {
    entry: "functions/charge-payment.ts",
    timeout: CHARGE_TIMEOUT,
    environment: {
      ORDERS_TABLE: orders.tableName,
      PAYMENTS_TABLE: payments.tableName,
      GATEWAY_URL: gateway.url,
      GATEWAY_TOKEN: gateway.token,
      METRICS_SERVICE: service,
    },
    logRemovalPolicy: removalPolicy,
    table: idempotency,
    operations: ["charge-payment"],
    commits: true,
    // The records of a batch ask together.
    batches: true,
    // The result is a word.
    largeResults: false,
    // A message can live for 18 days, four in the queue and 14 among the dead letters: this is twice that,
    // and a little more.
    retention: Duration.days(40),
  });
  orders.grants.actions(chargePayment, "dynamodb:GetItem");
  CommitGrants.fromTable(orders).actions(chargePayment, "dynamodb:UpdateItem");
  CommitGrants.fromTable(payments).actions(chargePayment, "dynamodb:PutItem");
  queue.addConsumer(chargePayment);
  return chargePayment;
}
