// Function URLs: payload format 2.0 without routes and stages. Pure.
// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
import type { GatewayKind } from "./gateway-kind.ts";
import { functionPayload } from "./payload.ts";
import { functionResponse, type GatewayMessage, jsonResponse } from "./response.ts";

const MESSAGES: Readonly<Record<GatewayMessage, readonly [statusCode: number, body: string]>> = {
  unauthorized: [403, '{"Message":"Forbidden"}'],
  forbidden: [403, '{"Message":"Forbidden"}'],
  notFound: [404, '{"Message":null}'],
  payloadTooLarge: [413, '{"Message":"Request Entity Too Large"}'],
  functionFailed: [502, "Internal Server Error"],
  authorizerFailed: [502, "Internal Server Error"],
  timedOut: [504, '{"Message":"Gateway Timeout"}'],
};

export function functionUrlKind(region: string): GatewayKind {
  return {
    requestIdHeader: "x-amzn-requestid",
    event(request, facts) {
      const { apiId } = facts.api;
      const api = { ...facts.api, domainName: `${apiId}.lambda-url.${region}.on.aws` };
      // Unlike an HTTP API it hands on the path as it was sent.
      return {
        ...functionPayload(request, { ...facts, api }, undefined),
        rawPath: request.path,
      };
    },
    response(payload) {
      const response = functionResponse(payload);
      if ("problem" in response || saysType(payload)) return response;
      return { ...response, headers: { ...response.headers, "content-type": "application/json" } };
    },
    message(name) {
      return jsonResponse(...MESSAGES[name]);
    },
  };
}

/** Whether the function itself sets its body's type. */
function saysType(payload: string): boolean {
  const headers: unknown = Object(Object(JSON.parse(payload)).headers);
  return Object.keys(Object(headers)).some((name) => name.toLowerCase() === "content-type");
}
