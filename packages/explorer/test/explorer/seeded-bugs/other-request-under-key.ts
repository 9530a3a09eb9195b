// onceonly and a child key; what is asked for under it holds the time, and is another request each time.
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

interface Charge {
  readonly orderId: string;
  readonly placedAt: string;
}

const options = {
  operation: "charge-order",
  store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
  key: (event: Charge) => event.orderId,
};

async function charge(key: string, body: object) {
  const answer = await fetch(`${process.env.GATEWAY_URL}/charges`, {
    method: "POST",
    headers: { "idempotency-key": key },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status}`);
  return { charged: true };
}

export const handler = idempotent(
  async ({ orderId }: Charge, { idempotency }) =>
    charge(idempotency.childKey("charge"), { orderId, at: new Date().toISOString() }),
  options,
);

export const mended = idempotent(
  async ({ orderId, placedAt }: Charge, { idempotency }) =>
    charge(idempotency.childKey("charge"), { orderId, at: placedAt }),
  options,
);
