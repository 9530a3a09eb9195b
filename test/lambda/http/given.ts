// The same request as each of the services sends it.

export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A list stands for several header lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly authorizer?: Readonly<Record<string, unknown>>;
  readonly startedAt?: number;
}

const PARTS = { method: "POST", path: "/orders", query: {}, headers: {}, body: '{"item":"book"}' };

export function v2Event(parts: RequestParts = {}) {
  const { method, path, query, headers, body } = { ...PARTS, ...parts };
  const joined = Object.entries(headers).map(([name, lines]) => [
    name.toLowerCase(),
    [lines].flat().join(","),
  ]);
  return {
    version: "2.0",
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: new URLSearchParams(query).toString(),
    headers: Object.fromEntries(joined) as Record<string, string>,
    requestContext: {
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
      domainName: "abc.execute-api.eu-central-1.amazonaws.com",
      stage: "$default",
      ...(parts.startedAt !== undefined && { timeEpoch: parts.startedAt }),
      ...(parts.authorizer && { authorizer: parts.authorizer }),
    },
    body,
    isBase64Encoded: parts.isBase64Encoded ?? false,
  };
}

export function functionUrlEvent(parts: RequestParts = {}) {
  const event = v2Event(parts);
  return {
    ...event,
    requestContext: { ...event.requestContext, domainName: "abc.lambda-url.eu-central-1.on.aws" },
  };
}

export function v1Event(parts: RequestParts = {}) {
  const { method, path, query, body } = { ...PARTS, ...parts };
  const hasQuery = Object.keys(query).length > 0;
  return {
    resource: path,
    path,
    httpMethod: method,
    ...headersOf(parts, { single: true, multi: true }),
    queryStringParameters: hasQuery ? query : null,
    multiValueQueryStringParameters: hasQuery ? listed(query) : null,
    requestContext: {
      stage: "prod",
      ...(parts.startedAt !== undefined && { requestTimeEpoch: parts.startedAt }),
      ...(parts.authorizer && { authorizer: parts.authorizer }),
    },
    body: body ?? null,
    isBase64Encoded: parts.isBase64Encoded ?? false,
  };
}

function albEvent(parts: RequestParts = {}) {
  const { method, path, query, body } = { ...PARTS, ...parts };
  return {
    requestContext: {
      elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/a/1" },
    },
    httpMethod: method,
    path,
    queryStringParameters: query,
    ...headersOf(parts, { single: true }),
    body: body ?? "",
    isBase64Encoded: parts.isBase64Encoded ?? false,
  };
}

function albMultiValueEvent(parts: RequestParts = {}) {
  const { queryStringParameters: _, headers: __, ...event } = albEvent(parts);
  return {
    ...event,
    multiValueQueryStringParameters: listed(parts.query ?? {}),
    ...headersOf(parts, { multi: true }),
  };
}

function listed(values: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}

function headersOf({ headers }: RequestParts, forms: { single?: boolean; multi?: boolean }) {
  const lines = Object.entries(headers ?? {});
  return {
    ...(forms.single && {
      headers: Object.fromEntries(lines.map(([name, values]) => [name, [values].flat().at(-1) as string])),
    }),
    ...(forms.multi && {
      multiValueHeaders: Object.fromEntries(lines.map(([name, values]) => [name, [values].flat()])),
    }),
  };
}

/** Every service's form of one request. */
export const EVENT_FORMS = [
  ["API Gateway v1", v1Event],
  ["API Gateway v2", v2Event],
  ["function URL", functionUrlEvent],
  ["ALB", albEvent],
  ["ALB with multi-value headers", albMultiValueEvent],
] as const;
