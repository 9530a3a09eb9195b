// POST /payments: one charge per payment, even if the function dies after the provider has charged the card.
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from "aws-lambda";
import { callerFromJwt, httpIdempotent, OutcomeUnknownError, readBody } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { httpLookup } from "onceonly/reconciler";

const { PROVIDER_URL, PROVIDER_TOKEN, IDEMPOTENCY_TABLE } = process.env;
const charges = `${PROVIDER_URL}/charges`;
const headers = { authorization: `Bearer ${PROVIDER_TOKEN}`, "content-type": "application/json" };
const answer = (statusCode: number, body: object) => ({ statusCode, body: JSON.stringify(body) });

export const handler = httpIdempotent(
  async (event: APIGatewayProxyEventV2WithJWTAuthorizer, { idempotency: { childKey, signal } }) => {
    const { invoice, cents } = JSON.parse(readBody(event));
    if (!Number.isInteger(cents) || cents < 1) return answer(400, { message: "how many cents?" });
    try {
      const charged = await fetch(charges, {
        method: "POST",
        // The same in each attempt, so the provider recognizes a retry.
        headers: { ...headers, "idempotency-key": childKey("charge") },
        body: JSON.stringify({ invoice, cents }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]),
      });
      if (charged.status === 402) return answer(402, { message: "the card was declined" });
      if (!charged.ok) throw new Error(`the provider answered ${charged.status}`);
      return answer(201, (await charged.json()) as object);
    } catch (error) {
      // The card may have been charged. The key is held until `whenAbandoned` has found out.
      throw new OutcomeUnknownError(error);
    }
  },
  {
    operation: "pay-invoice",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    scope: callerFromJwt(),
    whenAbandoned: httpLookup({
      url: ({ childKey }) => `${charges}?idempotency_key=${childKey("charge")}`,
      headers: () => headers,
      found: (body) => (body as { data: object[] }).data.map((charge) => answer(201, charge))[0],
    }),
  },
);
