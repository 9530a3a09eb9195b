// The event that an HTTP API sends to a function: payload format 2.0. Pure.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
import { type GatewayRequest, joinedHeaders, queryParameters } from "./request.ts";
import { decode, type RouteMatch } from "./routes.ts";

/** What the gateway knows about a request in addition to what the client sent. */
export interface RequestFacts {
  readonly api: ApiFacts;
  readonly route: RouteMatch;
  readonly requestId: string;
  readonly receivedAtMs: number;
}

export interface ApiFacts {
  readonly apiId: string;
  readonly accountId: string;
  readonly domainName: string;
  readonly stage: string;
  readonly stageVariables: Readonly<Record<string, string>> | undefined;
}

/** What a Lambda authorizer returned about the caller. */
export type AuthorizerContext = Readonly<Record<string, unknown>>;

/** The part of payload format 2.0 that functions and authorizers share. */
export function requestPayload(request: GatewayRequest, facts: RequestFacts) {
  const { cookie, ...headers } = joinedHeaders(request);
  const { api, route } = facts;
  return {
    version: "2.0",
    routeKey: route.routeKey,
    // HTTP APIs hand on the path decoded, unlike REST APIs and function URLs.
    rawPath: decode(request.path),
    rawQueryString: request.query,
    cookies: cookie?.split(/[;,] */),
    headers,
    queryStringParameters: queryParameters(request),
    requestContext: {
      accountId: api.accountId,
      apiId: api.apiId,
      domainName: api.domainName,
      domainPrefix: api.domainName.split(".")[0],
      http: {
        method: request.method,
        path: decode(request.path),
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: facts.requestId,
      routeKey: route.routeKey,
      stage: api.stage,
      time: logTime(facts.receivedAtMs),
      timeEpoch: facts.receivedAtMs,
    },
    pathParameters: route.pathParameters,
    stageVariables: api.stageVariables,
  };
}

export function functionPayload(
  request: GatewayRequest,
  facts: RequestFacts,
  authorizer: AuthorizerContext | undefined,
) {
  const common = requestPayload(request, facts);
  const asText = isText(common.headers["content-type"], request.body);
  return {
    ...common,
    requestContext: { ...common.requestContext, ...(authorizer && { authorizer: { lambda: authorizer } }) },
    ...(request.body.length > 0 && { body: request.body.toString(asText ? "utf8" : "base64") }),
    isBase64Encoded: !asText,
  };
}

// Everything but these reaches the function as base64, forms included.
const TEXT_TYPE = /^(text\/.*|application\/(json|javascript|xml|[^;]+\+(json|xml)))\s*(;|$)/i;

function isText(contentType: string | undefined, body: Buffer): boolean {
  if (body.length === 0) return true;
  return (contentType === undefined || TEXT_TYPE.test(contentType)) && isUtf8(body);
}

function isUtf8(body: Buffer): boolean {
  return Buffer.from(body.toString("utf8")).equals(body);
}

/** For example `12/Mar/2020:19:03:58 +0000`. */
export function logTime(timeMs: number): string {
  const [, day, month, year, time] = new Date(timeMs).toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}
