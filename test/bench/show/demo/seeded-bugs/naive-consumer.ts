// A consumer of the payments queue as one writes it who takes a message for delivered once: the control of the demo.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { findOrder } from "../../../../../functions/order-table.ts";
import { charge } from "../../../../../functions/payment-gateway.ts";
import { type PaymentRequest, readPaymentRequest } from "../../../../../functions/payment-request.ts";

const { ORDERS_TABLE, PAYMENTS_TABLE } = process.env;
const client = DynamoDBDocumentClient.from(new DynamoDBClient());

export const handler = async ({ Records }: SQSEvent) => {
  const batchItemFailures: { itemIdentifier: string }[] = [];
  await Promise.all(
    Records.map(({ messageId, body }) =>
      pay(readPaymentRequest(body)).catch(() => batchItemFailures.push({ itemIdentifier: messageId })),
    ),
  );
  return { batchItemFailures };
};

async function pay({ tenant, orderId }: PaymentRequest): Promise<void> {
  const order = await findOrder(tenant, orderId);
  if (!order) throw new Error("no such order");
  const verdict = await charge(order, randomUUID(), new AbortController().signal);
  if (verdict.state === "paid") {
    const { chargeId } = verdict;
    const Item = { tenant, orderId, chargeId, amountCents: order.totalCents };
    await client.send(new PutCommand({ TableName: PAYMENTS_TABLE, Item }));
  }
  await client.send(
    new UpdateCommand({
      TableName: ORDERS_TABLE,
      Key: { tenant, id: orderId },
      UpdateExpression: "SET #state = :state",
      ExpressionAttributeNames: { "#state": "state" },
      ExpressionAttributeValues: { ":state": verdict.state },
    }),
  );
}
