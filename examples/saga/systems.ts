// The systems that the saga's steps use: the stock table, and a payment provider and a carrier that know idempotency keys.
import type { DynamoDBWrite } from "onceonly/dynamodb";
import { httpLookup } from "onceonly/reconciler";

const { STOCK_TABLE, PROVIDER_URL, CARRIER_URL, PROVIDER_TOKEN } = process.env;
const headers = { authorization: `Bearer ${PROVIDER_TOKEN}` };

/** Refused for good: nothing happened. */
export class Refused extends Error {}

async function post(url: string, body: object, key: string, signal: AbortSignal): Promise<{ id: string }> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]),
  });
  if (answer.status === 402 || answer.status === 422) throw new Refused(`${url} answered ${answer.status}`);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return (await answer.json()) as { id: string };
}

export const charge = (cents: number, key: string, signal: AbortSignal) =>
  post(`${PROVIDER_URL}/charges`, { cents }, key, signal);
/** Gives the money back of the charge with this key, if there is one. */
export const refund = (chargeKey: string, key: string, signal: AbortSignal) =>
  post(`${PROVIDER_URL}/refunds`, { chargeKey }, key, signal);
export const ship = (sku: string, key: string, signal: AbortSignal) =>
  post(`${CARRIER_URL}/shipments`, { sku }, key, signal);

/** Asks for a charge whose answer never arrived. */
export const findCharge = httpLookup({
  url: ({ childKey }) => `${PROVIDER_URL}/charges?idempotency_key=${childKey()}`,
  headers: () => headers,
  found: (body) => (body as { data: { id: string }[] }).data[0],
});

export const reserve = (sku: string, pieces: number): DynamoDBWrite => ({
  Update: {
    TableName: STOCK_TABLE,
    Key: { sku },
    UpdateExpression: "ADD reserved :pieces",
    ExpressionAttributeValues: { ":pieces": pieces },
  },
});
