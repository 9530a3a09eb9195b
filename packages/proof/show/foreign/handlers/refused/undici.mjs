import { request } from "undici";

export const handler = async ({ orderId, amount }) => {
  const { statusCode, body } = await request(`${process.env.PAYMENTS_URL}/charges`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ orderId, amount }),
  });
  if (statusCode >= 400) throw new Error(`payment provider: ${statusCode}`);
  return body.json();
};
