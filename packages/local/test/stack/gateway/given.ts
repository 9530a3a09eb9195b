// A request and the facts about it, for tests to vary.
import type { RequestFacts } from "../../../lib/stack/gateway/payload.ts";
import type { GatewayRequest } from "../../../lib/stack/gateway/request.ts";

export function requestOf(parts: Partial<GatewayRequest> = {}): GatewayRequest {
  return {
    method: "GET",
    path: "/my/path",
    query: "",
    headers: [],
    sourceIp: "192.0.2.1",
    body: Buffer.alloc(0),
    ...parts,
  };
}

export function factsOf(parts: Partial<RequestFacts> = {}): RequestFacts {
  return {
    api: {
      apiId: "api-id",
      accountId: "123456789012",
      domainName: "id.execute-api.us-east-1.amazonaws.com",
      stage: "$default",
      stageVariables: undefined,
    },
    route: { routeKey: "$default", pathParameters: undefined },
    requestId: "id",
    receivedAtMs: 1583348638390,
    ...parts,
  };
}
