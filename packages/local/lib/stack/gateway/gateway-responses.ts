// A REST API's gateway responses: the responses that the API creates itself, customized in body, headers or status. Pure.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
import type { GatewayMessage, GatewayResponse } from "./response.ts";

/** Named as in AWS::ApiGateway::GatewayResponse. */
export interface GatewayResponseProperties {
  readonly ResponseType?: string;
  readonly StatusCode?: string | number;
  readonly ResponseParameters?: Readonly<Record<string, string>>;
  readonly ResponseTemplates?: Readonly<Record<string, string>>;
}

/** By their response types. */
export type GatewayResponses = ReadonlyMap<string, GatewayResponseProperties>;

const TYPES: Readonly<Record<GatewayMessage, string>> = {
  unauthorized: "UNAUTHORIZED",
  forbidden: "ACCESS_DENIED",
  notFound: "MISSING_AUTHENTICATION_TOKEN",
  payloadTooLarge: "REQUEST_TOO_LARGE",
  functionFailed: "INTEGRATION_FAILURE",
  authorizerFailed: "AUTHORIZER_FAILURE",
  timedOut: "INTEGRATION_TIMEOUT",
};
const HEADER = /^gatewayresponse\.header\.(.+)$/;
const LITERAL = /^'(.*)'$/s;
const VARIABLE = /\$context\.error\.(messageString|message|responseType)\b/g;

/** The response as the app customized it for its type, or else for all of 4xx or 5xx. */
export function inOwnWords(
  responses: GatewayResponses,
  message: GatewayMessage,
  standard: GatewayResponse,
): GatewayResponse {
  const type = TYPES[message];
  const fallback = standard.statusCode < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX";
  const own = responses.get(type) ?? responses.get(fallback);
  if (own === undefined) return standard;
  const headers = Object.entries(own.ResponseParameters ?? {}).flatMap(([name, value]) => {
    const [, header] = HEADER.exec(name) ?? [];
    const [, literal] = LITERAL.exec(value) ?? [];
    return header === undefined || literal === undefined ? [] : [[header.toLowerCase(), literal]];
  });
  const [[contentType, template] = ["application/json", undefined]] = Object.entries(
    own.ResponseTemplates ?? {},
  );
  return {
    ...standard,
    statusCode: Number(own.StatusCode ?? standard.statusCode),
    headers: { ...standard.headers, "content-type": contentType, ...Object.fromEntries(headers) },
    body: template === undefined ? standard.body : Buffer.from(filled(template, type, standard.body)),
  };
}

/** Those parts are made from the request, which is not run. */
export function unknownParts({
  ResponseParameters = {},
  ResponseTemplates = {},
}: GatewayResponseProperties): string[] {
  const values = Object.entries(ResponseParameters).filter(
    ([name, value]) => !HEADER.test(name) || !LITERAL.test(value),
  );
  const templates = Object.values(ResponseTemplates).flatMap(
    (template) => template.replaceAll(VARIABLE, "").match(/\$[a-zA-Z][\w.]*/g) ?? [],
  );
  return [...values.map(([name]) => name), ...templates];
}

function filled(template: string, responseType: string, standardBody: Buffer): string {
  const { message, Message = message } = JSON.parse(standardBody.toString("utf8"));
  const variables: Readonly<Record<string, string>> = {
    messageString: JSON.stringify(Message),
    message: String(Message),
    responseType,
  };
  return template.replaceAll(VARIABLE, (_, name: string) => variables[name] ?? "");
}
