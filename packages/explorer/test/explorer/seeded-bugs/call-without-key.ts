// onceonly around a call of another system that gets no key.
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

interface Charge {
  readonly orderId: string;
  readonly cents: number;
}

const options = {
  operation: "charge-order",
  store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
  key: (event: Charge) => event.orderId,
};

export const handler = idempotent(async (event: Charge) => charge(event, {}), options);

export const mended = idempotent(
  async (event: Charge, { idempotency }) =>
    charge(event, { "idempotency-key": idempotency.childKey("charge") }),
  options,
);

async function charge(event: Charge, headers: Record<string, string>) {
  const answer = await fetch(`${process.env.GATEWAY_URL}/charges`, {
    method: "POST",
    headers,
    body: JSON.stringify(event),
  });
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status}`);
  return { charged: true };
}
