import { IdempotencyConfig } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import middy from "@middy/core";

const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.IDEMPOTENCY_TABLE ?? "" });
const config = new IdempotencyConfig({ eventKeyJmesPath: "orderId", expiresAfterSeconds: 3600 });

interface Payment {
  orderId: string;
  amount: number;
}

async function createPayment({ orderId, amount }: Payment) {
  const response = await fetch(`${process.env.PAYMENTS_URL}/payments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ orderId, amount }),
  });
  if (!response.ok) throw new Error(`payment failed: ${response.status}`);
  return (await response.json()) as { paymentId: string };
}

export const handler = middy(async (event: Payment) => {
  const { paymentId } = await createPayment(event);
  return { message: "paid", paymentId };
}).use(makeHandlerIdempotent({ persistenceStore, config }));
