// Consumer of the payments queue: charges each order once. The gateway is another system, so all attempts
// share one key. The gateway's decision then commits in one transaction with the record.
import { SQS } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { emfMetrics, idempotentBatch, PermanentError } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { Order } from "./order.ts";
import { findOrder } from "./order-table.ts";
import { charge, type Verdict } from "./payment-gateway.ts";
import { readPaymentRequest } from "./payment-request.ts";

const { ORDERS_TABLE, PAYMENTS_TABLE, IDEMPOTENCY_TABLE, METRICS_SERVICE } = process.env;
// Uses the endpoint of its configuration, like the other clients: otherwise the host in the queue's URL
// would win.
const sqs = new SQS({ useQueueUrlAsEndpoint: false });

export const handler = idempotentBatch<SQSRecord, DynamoDBWrite>(
  async (message, { idempotency }) => {
    const { tenant, orderId } = readPaymentRequest(message.body);
    const order = await findOrder(tenant, orderId);
    if (!order) throw new PermanentError("the order does not exist");
    // A message may be redriven after its record has expired.
    if (order.state !== "created") return { state: order.state };

    const verdict = await charge(order, idempotency.childKey("charge"), idempotency.signal);
    return idempotency.commit({ state: verdict.state }, { writes: settlementOf(order, verdict) });
  },
  {
    operation: "charge-payment",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    // The stack knows how long a message can live, and refuses a shorter retention.
    retentionSeconds: Number(process.env.IDEMPOTENCY_RETENTION_SECONDS),
    changeVisibility: (request) => sqs.changeMessageVisibilityBatch(request),
    observe: emfMetrics({ service: METRICS_SERVICE }),
  },
);

function settlementOf(order: Order, verdict: Verdict): DynamoDBWrite[] {
  const { tenant, id, totalCents } = order;
  const settled: DynamoDBWrite = {
    Update: {
      TableName: ORDERS_TABLE,
      Key: { tenant, id },
      UpdateExpression: "SET #state = :state",
      ConditionExpression: "#state = :created",
      ExpressionAttributeNames: { "#state": "state" },
      ExpressionAttributeValues: { ":state": verdict.state, ":created": "created" },
    },
  };
  if (verdict.state === "declined") return [settled];
  const { chargeId } = verdict;
  const payment = {
    tenant,
    orderId: id,
    chargeId,
    amountCents: totalCents,
    paidAt: new Date().toISOString(),
  };
  return [
    settled,
    {
      Put: {
        TableName: PAYMENTS_TABLE,
        Item: payment,
        ConditionExpression: "attribute_not_exists(orderId)",
      },
    },
  ];
}
