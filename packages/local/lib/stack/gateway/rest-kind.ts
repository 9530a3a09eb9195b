// REST APIs: the proxy integration's event and answer, which is payload format 1.0 without a version. Pure.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
import type { GatewayKind } from "./gateway-kind.ts";
import { type GatewayResponses, inOwnWords } from "./gateway-responses.ts";
import { type AuthorizerContext, logTime, type RequestFacts } from "./payload.ts";
import type { GatewayRequest } from "./request.ts";
import { type GatewayMessage, type GatewayResponse, isRecord, jsonResponse } from "./response.ts";
import { decode } from "./routes.ts";

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const MESSAGES: Readonly<Record<GatewayMessage, readonly [statusCode: number, body: object]>> = {
  unauthorized: [401, { message: "Unauthorized" }],
  forbidden: [403, { Message: "User is not authorized to access this resource with an explicit deny" }],
  notFound: [403, { message: "Missing Authentication Token" }],
  payloadTooLarge: [413, { message: "Request Too Long" }],
  functionFailed: [502, { message: "Internal server error" }],
  authorizerFailed: [500, { message: null }],
  timedOut: [504, { message: "Endpoint request timed out" }],
};

/**
 * @param binaryMediaTypes of the API: which requests and responses are base64
 * @param gatewayResponses the API's customized responses for the requests that it answers itself; may be filled later
 */
export function restKind(
  binaryMediaTypes: readonly string[],
  gatewayResponses: GatewayResponses = new Map(),
): GatewayKind {
  return {
    requestIdHeader: "x-amzn-requestid",
    event: (request, facts, authorizer) => ({
      ...restRequest(request, facts, authorizer),
      ...bodyOf(request, binaryMediaTypes),
    }),
    response: (payload) => restResponse(payload, binaryMediaTypes.length > 0),
    message(name) {
      const [statusCode, body] = MESSAGES[name];
      return inOwnWords(gatewayResponses, name, jsonResponse(statusCode, JSON.stringify(body)));
    },
  };
}

/** Shared by functions and by authorizers of the kind REQUEST. */
export function restRequest(
  request: GatewayRequest,
  { api, route, requestId, receivedAtMs }: RequestFacts,
  authorizer?: AuthorizerContext,
) {
  const [, resource = "/"] = route.routeKey.split(" ");
  const headers = grouped(request.headers);
  const query = grouped([...new URLSearchParams(request.query)]);
  const path = pathWithoutStage(request.path, api.stage);
  return {
    resource,
    path: decode(path),
    httpMethod: request.method,
    headers: lastOf(headers),
    multiValueHeaders: headers,
    queryStringParameters: lastOf(query),
    multiValueQueryStringParameters: query,
    pathParameters: route.pathParameters ?? null,
    stageVariables: api.stageVariables ?? null,
    requestContext: {
      accountId: api.accountId,
      apiId: api.apiId,
      ...(authorizer && { authorizer }),
      domainName: api.domainName,
      domainPrefix: api.domainName.split(".")[0],
      extendedRequestId: requestId,
      httpMethod: request.method,
      identity: {
        accessKey: null,
        accountId: null,
        caller: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp: request.sourceIp,
        user: null,
        userAgent: lastOf(headers)?.["User-Agent"] ?? null,
        userArn: null,
      },
      path: request.path,
      protocol: "HTTP/1.1",
      requestId,
      requestTime: logTime(receivedAtMs),
      requestTimeEpoch: receivedAtMs,
      resourceId: route.routeKey,
      resourcePath: resource,
      stage: api.stage,
    },
  };
}

function pathWithoutStage(path: string, stage: string): string {
  return path.slice(stage.length + 1) || "/";
}

/** Names as they were sent, first spelling; `null` if there are none, as in AWS's events. */
function grouped(pairs: readonly (readonly [string, string])[]): Record<string, string[]> | null {
  const groups = new Map<string, { name: string; values: string[] }>();
  for (const [name, value] of pairs) {
    const group = groups.get(name.toLowerCase()) ?? { name, values: [] };
    group.values.push(value);
    groups.set(name.toLowerCase(), group);
  }
  if (groups.size === 0) return null;
  return Object.fromEntries([...groups.values()].map(({ name, values }) => [name, values]));
}

function lastOf(groups: Record<string, string[]> | null): Record<string, string> | null {
  if (groups === null) return null;
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? ""]));
}

function bodyOf({ body, headers }: GatewayRequest, binaryMediaTypes: readonly string[]) {
  const [, type = ""] = headers.find(([name]) => name.toLowerCase() === "content-type") ?? [];
  const isBinary = body.length > 0 && binaryMediaTypes.some((binary) => isOfType(type, binary));
  return {
    body: body.length > 0 ? body.toString(isBinary ? "base64" : "utf8") : null,
    isBase64Encoded: isBinary,
  };
}

function isOfType(type: string, binary: string): boolean {
  const [given = ""] = type.split(";");
  return binary === "*/*" || given.trim().toLowerCase() === binary.toLowerCase();
}

function restResponse(
  payload: string,
  decodesBase64: boolean,
): GatewayResponse | { readonly problem: string } {
  let result: unknown;
  try {
    result = JSON.parse(payload);
  } catch {
    return { problem: "the function's response isn't JSON" };
  }
  if (!isRecord(result)) return { problem: "a REST API needs an object with statusCode and body" };
  const { statusCode, headers, multiValueHeaders, body = "", isBase64Encoded = false } = result;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    return { problem: `statusCode must be a whole number, got ${JSON.stringify(statusCode)}` };
  }
  if (typeof (body ?? "") !== "string") return { problem: `body must be a string, got ${typeof body}` };
  if (!isRecord(headers ?? {})) return { problem: "headers must be an object" };
  if (!isRecord(multiValueHeaders ?? {})) return { problem: "multiValueHeaders must be an object" };
  const lists = Object.entries(multiValueHeaders ?? {}).map(([name, values]): [string, string[]] => [
    name.toLowerCase(),
    [values].flat().map(String),
  ]);
  const single = Object.entries(headers ?? {}).map(([name, value]): [string, string[]] => [
    name.toLowerCase(),
    [String(value)],
  ]);
  const { "set-cookie": cookies = [], ...others } = merged([...single, ...lists]);
  return {
    statusCode: status,
    headers: { "content-type": "application/json", ...others },
    cookies,
    body: Buffer.from(String(body ?? ""), isBase64Encoded === true && decodesBase64 ? "base64" : "utf8"),
  };
}

/** A header in both maps is sent once for each value, and a value in both maps once. */
function merged(entries: readonly (readonly [string, string[]])[]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [name, values] of entries) all[name] = [...new Set([...(all[name] ?? []), ...values])];
  return all;
}
