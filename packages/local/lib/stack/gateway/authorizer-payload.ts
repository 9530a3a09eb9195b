// The events that a Lambda authorizer receives: of an HTTP API payload formats 1.0 and 2.0, of a REST API the kinds TOKEN
// and REQUEST. Pure. https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-lambda-authorizer.html
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html
import { type RequestFacts, requestPayload } from "./payload.ts";
import { type GatewayRequest, joinedHeaders, queryParameters } from "./request.ts";
import { restRequest } from "./rest-kind.ts";

/** The function's input. */
export type AuthorizerFormat = "1.0" | "2.0" | "TOKEN" | "REQUEST";

export function authorizerPayload(
  format: AuthorizerFormat,
  request: GatewayRequest,
  facts: RequestFacts,
  identity: readonly string[],
  routeArn: string,
): Record<string, unknown> {
  if (format === "TOKEN") return { type: format, methodArn: routeArn, authorizationToken: identity[0] };
  if (format === "REQUEST") return { type: format, methodArn: routeArn, ...restRequest(request, facts) };
  return format === "1.0"
    ? payloadFormat1(request, facts, identity, routeArn)
    : { ...requestPayload(request, facts), type: "REQUEST", routeArn, identitySource: identity };
}

function payloadFormat1(
  request: GatewayRequest,
  facts: RequestFacts,
  identity: readonly string[],
  methodArn: string,
): Record<string, unknown> {
  const { api, route, requestId } = facts;
  const [, resource = route.routeKey] = route.routeKey.split(" ");
  return {
    version: "1.0",
    type: "REQUEST",
    methodArn,
    identitySource: identity.join(","),
    authorizationToken: identity.join(","),
    resource,
    path: request.path,
    httpMethod: request.method,
    headers: joinedHeaders(request),
    queryStringParameters: queryParameters(request) ?? {},
    pathParameters: route.pathParameters ?? {},
    stageVariables: api.stageVariables ?? {},
    requestContext: {
      accountId: api.accountId,
      apiId: api.apiId,
      domainName: api.domainName,
      httpMethod: request.method,
      identity: { sourceIp: request.sourceIp },
      path: request.path,
      requestId,
      resourcePath: resource,
      stage: api.stage,
    },
  };
}
