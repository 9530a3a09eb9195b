// The CORS configuration of an HTTP API: the gateway answers preflight requests itself and sets the headers of
// all other answers. Pure. https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html
import type { GatewayResponse } from "./response.ts";

/** Named as in AWS::ApiGatewayV2::Api. */
export interface CorsConfiguration {
  readonly AllowOrigins?: readonly string[];
  readonly AllowMethods?: readonly string[];
  readonly AllowHeaders?: readonly string[];
  readonly ExposeHeaders?: readonly string[];
  readonly MaxAge?: number;
  readonly AllowCredentials?: boolean;
}

/** The response to a preflight request, or `undefined` if the request isn't one. */
export function preflightResponse(
  cors: CorsConfiguration,
  method: string,
  headers: Readonly<Record<string, string>>,
): GatewayResponse | undefined {
  if (method !== "OPTIONS" || !headers["access-control-request-method"]) return undefined;
  const shared = corsHeaders(cors, headers.origin);
  const preflight = Object.keys(shared).length > 0 && {
    "access-control-allow-methods": cors.AllowMethods?.join(","),
    "access-control-allow-headers": cors.AllowHeaders?.join(","),
    "access-control-max-age": String(cors.MaxAge ?? 0),
  };
  return {
    statusCode: 204,
    headers: present({ ...shared, ...preflight }),
    cookies: [],
    body: Buffer.alloc(0),
  };
}

/** The headers for an origin; none for one that is not allowed. */
export function corsHeaders(cors: CorsConfiguration, origin: string | undefined): Record<string, string> {
  const allowed = cors.AllowOrigins ?? [];
  if (origin === undefined || !(allowed.includes("*") || allowed.includes(origin))) return {};
  return present({
    "access-control-allow-origin": allowed.includes("*") ? "*" : origin,
    "access-control-expose-headers": cors.ExposeHeaders?.join(","),
    "access-control-allow-credentials": cors.AllowCredentials ? "true" : undefined,
  });
}

function present(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}
