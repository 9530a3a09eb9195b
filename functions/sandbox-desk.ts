// GET /charges, POST /refunds and POST /shipments of the sandbox payment gateway: what a saga calls in addition to
// charges. It honours idempotency keys, and knows nothing of onceonly.
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { jsonBody } from "./json-body.ts";
import { json } from "./response.ts";
import { enter, findEntry, refundOnce } from "./sandbox-ledger.ts";

/** The carrier doesn't accept it. */
const UNSHIPPABLE = "anvil";

export const handler = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
  if (event.routeKey === "GET /charges") return chargesUnder(event.queryStringParameters?.key);
  const key = event.headers["idempotency-key"];
  if (!key) return json(400, { message: "the header idempotency-key is missing" });
  const { chargeKey, orderId, sku } = Object(jsonBody(event)) as Readonly<Record<string, unknown>>;
  if (event.routeKey === "POST /refunds") {
    if (typeof chargeKey !== "string") return json(400, { message: "chargeKey is needed" });
    await refundOnce(chargeKey, key);
    return json(201, { refunded: true });
  }
  if (typeof orderId !== "string" || typeof sku !== "string") {
    return json(400, { message: "orderId and sku are needed" });
  }
  if (sku === UNSHIPPABLE) return json(422, { message: "too heavy" });
  await enter(key, { orderId, shipped: sku });
  return json(201, { shipped: true });
};

async function chargesUnder(key: string | undefined): Promise<APIGatewayProxyStructuredResultV2> {
  if (!key) return json(400, { message: "key is needed" });
  const { chargeId } = (await findEntry(key)) ?? {};
  return json(200, { charges: chargeId === undefined ? [] : [{ chargeId }] });
}
