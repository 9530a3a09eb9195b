// Payments: a FIFO queue of orders to be paid, and the consumer that has the gateway charge each of them once.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { DeduplicationScope, FifoThroughputLimit, Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { type IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { SampleFunction } from "./sample-function.ts";
import { SampleTable } from "./sample-table.ts";

const CHARGE_TIMEOUT = Duration.seconds(10);

export interface PaymentGateway {
  readonly url: string;
  readonly token: string;
}

export interface PaymentServiceProps {
  readonly queue: Queue;
  readonly idempotency: IdempotencyTable;
  readonly orders: SampleTable;
  readonly gateway: PaymentGateway;
  readonly removalPolicy: RemovalPolicy;
}

/** Orders to be paid, each in a message group of its own. */
export function addPaymentsQueue(scope: Construct): Queue {
  const deadLetters = new Queue(scope, "PaymentsDeadLetters", {
    fifo: true,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  return new Queue(scope, "PaymentsQueue", {
    fifo: true,
    enforceSSL: true,
    contentBasedDeduplication: false,
    deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
    fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
    retentionPeriod: Duration.days(4),
    // Six times the consumer's timeout: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    visibilityTimeout: Duration.seconds(6 * CHARGE_TIMEOUT.toSeconds()),
    // The gateway may be down for ten minutes.
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: 10 },
  });
}

export function addPaymentService(scope: Construct, props: PaymentServiceProps): void {
  const { queue, idempotency, orders, gateway, removalPolicy } = props;
  const payments = new SampleTable(scope, "Payments", {
    partitionKey: "tenant",
    sortKey: "orderId",
    removalPolicy,
  });
  const chargePayment = new SampleFunction(scope, "ChargePayment", {
    file: "charge-payment",
    timeout: CHARGE_TIMEOUT,
    environment: {
      ORDERS_TABLE: orders.tableName,
      PAYMENTS_TABLE: payments.tableName,
      GATEWAY_URL: gateway.url,
      GATEWAY_TOKEN: gateway.token,
    },
    removalPolicy,
  });
  // A message can live for 18 days, four in the queue and 14 among the dead letters: twice that, and a little more.
  chargePayment.with(new UseIdempotency(idempotency, { retention: Duration.days(40) }));
  orders.grants.actions(chargePayment, "dynamodb:GetItem");
  orders.grantInTransactions(chargePayment, "dynamodb:UpdateItem");
  payments.grantInTransactions(chargePayment, "dynamodb:PutItem");
  chargePayment.addEventSource(new SqsEventSource(queue, { batchSize: 10, reportBatchItemFailures: true }));
}
