// How a Lambda function is called here: the same for every contestant. Pure.
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";

export type LambdaHandler = (event: never, context: Context) => Promise<unknown>;
export type Invoke = (event: unknown, context: Context) => Promise<unknown>;

export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** POST /orders through an HTTP API. */
export function postOrder(idempotencyKey: string, body = '{"item":"book"}'): APIGatewayProxyEventV2 {
  const userAgent = "client/1.0";
  return {
    version: "2.0",
    routeKey: "POST /orders",
    rawPath: "/orders",
    rawQueryString: "",
    headers: {
      "content-type": "application/json",
      "idempotency-key": idempotencyKey,
      "user-agent": userAgent,
    },
    requestContext: {
      accountId: "123456789012",
      apiId: "api",
      domainName: "api.example.com",
      domainPrefix: "api",
      http: { method: "POST", path: "/orders", protocol: "HTTP/1.1", sourceIp: "203.0.113.7", userAgent },
      requestId: "request-1",
      routeKey: "POST /orders",
      stage: "$default",
      time: "17/Mar/2030:17:46:40 +0000",
      timeEpoch: 1_900_000_000_000,
    },
    body,
    isBase64Encoded: false,
  };
}
