// An HTTP API's responses to its client: for a function's result, payload format 2.0, and the gateway's own. Pure.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

/** The gateway's own answers; their bodies are AWS's, word for word. */
export const GATEWAY_MESSAGES = {
  unauthorized: [401, "Unauthorized"],
  forbidden: [403, "Forbidden"],
  notFound: [404, "Not Found"],
  payloadTooLarge: [413, "Request Entity Too Large"],
  functionFailed: [500, "Internal Server Error"],
  authorizerFailed: [500, "Internal Server Error"],
  timedOut: [503, "Service Unavailable"],
} as const;

export type GatewayMessage = keyof typeof GATEWAY_MESSAGES;

export function gatewayMessage(name: GatewayMessage): GatewayResponse {
  const [statusCode, message] = GATEWAY_MESSAGES[name];
  return jsonResponse(statusCode, JSON.stringify({ message }));
}

/** The response for a function's result, or what is wrong with that result. */
export function functionResponse(payload: string): GatewayResponse | { readonly problem: string } {
  let result: unknown;
  try {
    result = JSON.parse(payload);
  } catch {
    return { problem: "the function's response isn't JSON" };
  }
  if (typeof result === "string") return jsonResponse(200, result);
  if (!isRecord(result) || result.statusCode === undefined) return jsonResponse(200, payload);

  const { statusCode, headers = {}, cookies = [], body = "", isBase64Encoded = false } = result;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    return {
      problem: `statusCode must be a whole number from 200 to 599, got ${JSON.stringify(statusCode)}`,
    };
  }
  if (typeof (body ?? "") !== "string") return { problem: `body must be a string, got ${typeof body}` };
  if (headers !== null && !isRecord(headers)) return { problem: "headers must be an object" };
  if (cookies !== null && !Array.isArray(cookies)) return { problem: "cookies must be an array" };
  return {
    statusCode: status,
    headers: { "content-type": "text/plain;charset=UTF-8", ...lowerCaseNames(headers ?? {}) },
    cookies: (cookies ?? []).map(String),
    body: Buffer.from(String(body ?? ""), isBase64Encoded === true ? "base64" : "utf8"),
  };
}

export function jsonResponse(statusCode: number, body: string): GatewayResponse {
  return {
    statusCode,
    headers: { "content-type": "application/json" },
    cookies: [],
    body: Buffer.from(body),
  };
}

function lowerCaseNames(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
