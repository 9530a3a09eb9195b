// POST /charges of the sandbox payment gateway. It honours idempotency keys, moves no money, and
// behaves as the card says. It knows nothing of onceonly, so its ledger is independent evidence of one charge per
// order.
import { setTimeout as sleep } from "node:timers/promises";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { jsonBody } from "./json-body.ts";
import { json } from "./response.ts";
import { type ChargeRequest, chargeOnce, enterAttempt } from "./sandbox-ledger.ts";

const SLOW_MS = 2000;
const FAILURES_BEFORE_CHARGE = 2;

export const handler = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
  const key = event.headers["idempotency-key"];
  if (!key) return json(400, { message: "the header idempotency-key is missing" });
  const request = readChargeRequest(jsonBody(event));
  if (!request) return json(400, { message: "orderId, amountCents and card are needed" });

  const attempt = await enterAttempt(key, request);
  if (attempt === undefined) return json(422, { message: "the key was used for another charge" });

  const charged = async () => json(201, { chargeId: await chargeOnce(key) });
  switch (request.card) {
    case "card_ok":
      return charged();
    case "card_slow":
      await sleep(SLOW_MS);
      return charged();
    case "card_fails_first":
      return attempt > FAILURES_BEFORE_CHARGE ? charged() : json(500, { message: "out of order" });
    case "card_answer_lost": {
      const answer = await charged();
      return attempt > 1 ? answer : json(504, { message: "no answer in time" });
    }
    case "card_declined":
      return json(402, { reason: "insufficient funds" });
    default:
      return json(402, { reason: "unknown card" });
  }
};

function readChargeRequest(body: unknown): ChargeRequest | undefined {
  const { orderId, amountCents, card } = Object(body) as Partial<Record<keyof ChargeRequest, unknown>>;
  if (typeof orderId !== "string" || typeof card !== "string") return undefined;
  if (typeof amountCents !== "number" || !Number.isInteger(amountCents) || amountCents < 1) return undefined;
  return { orderId, amountCents, card };
}
