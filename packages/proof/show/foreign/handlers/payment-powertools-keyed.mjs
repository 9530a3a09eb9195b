import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";

const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.IDEMPOTENCY_TABLE });
const config = new IdempotencyConfig({ eventKeyJmesPath: "orderId" });

export const handler = makeIdempotent(
  async (event, _context) => {
    const response = await fetch(`${process.env.PAYMENTS_URL}/payments`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": event.orderId },
      body: JSON.stringify({ orderId: event.orderId, amount: event.amount }),
    });
    if (!response.ok) throw new Error(`payment failed: ${response.status}`);
    const { paymentId } = await response.json();
    return { message: "paid", paymentId };
  },
  { persistenceStore, config },
);
