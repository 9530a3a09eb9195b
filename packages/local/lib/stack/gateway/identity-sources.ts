// The values that a request has for an authorizer's identity sources, such as `$request.header.Authorization`.
// Pure. https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-lambda-authorizer.html
import type { RequestFacts } from "./payload.ts";
import { type GatewayRequest, joinedHeaders, queryParameters } from "./request.ts";

/** The values in the order of the sources, or `undefined` if the request lacks one of them. */
export function identityValues(
  sources: readonly string[],
  request: GatewayRequest,
  facts: RequestFacts,
): string[] | undefined {
  const values = sources.map((source) => identityValue(source, request, facts));
  return values.every((value) => value !== undefined && value !== "") ? (values as string[]) : undefined;
}

function identityValue(source: string, request: GatewayRequest, facts: RequestFacts): string | undefined {
  const [kind, ...rest] = source.split(".");
  const name = rest.join(".");
  if (kind === "$request" && name.startsWith("header.")) {
    return joinedHeaders(request)[name.slice("header.".length).toLowerCase()];
  }
  if (kind === "$request" && name.startsWith("querystring.")) {
    return queryParameters(request)?.[name.slice("querystring.".length)];
  }
  if (kind === "$stageVariables") return facts.api.stageVariables?.[name];
  if (kind === "$context") {
    const context: Record<string, string> = {
      routeKey: facts.route.routeKey,
      httpMethod: request.method,
      stage: facts.api.stage,
      "identity.sourceIp": request.sourceIp,
    };
    return context[name];
  }
  return undefined;
}
