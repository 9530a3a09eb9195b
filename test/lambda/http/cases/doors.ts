// One request as each service, stage, domain and payload version hands it to a function. Which of them decodes what:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
// https://github.com/hotsock/voker/pull/8

/** As the client writes it. */
export interface Sent {
  readonly method?: string;
  /** Percent-encoded, matches the route. */
  readonly path: string;
  /** As it stands behind the question mark. */
  readonly query?: string;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Address {
  readonly domainName: string;
  readonly stage: string;
  /** What stands in front of the path in the event. */
  readonly prefix: string;
}

const OWN_HOST = "a1b2c3.execute-api.eu-central-1.amazonaws.com";
const HTTP_API_HOST = "d4e5f6.execute-api.eu-central-1.amazonaws.com";
const CUSTOM_HOST = "api.example.com";

/** The places of a template, decoded. */
function parametersOf(route: string, path: string): Record<string, string> | null {
  const names = [...route.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name as string);
  const pattern = route.replaceAll(/\{\w+\+\}/g, "(.+)").replaceAll(/\{\w+\}/g, "([^/]+)");
  const values = new RegExp(`^${pattern}$`).exec(path)?.slice(1);
  if (!values) throw new Error(`${path} does not match ${route}`);
  if (names.length === 0) return null;
  return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index] as string)]));
}

/** Lists of each name's values. */
function listed(pairs: Iterable<[string, string]>): Record<string, string[]> | null {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of pairs) lists[name] = [...(lists[name] ?? []), value];
  return Object.keys(lists).length > 0 ? lists : null;
}

const mapLists = (lists: Record<string, string[]> | null, one: (values: string[]) => string) =>
  lists && Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, one(values)]));

const last = (values: string[]) => values.at(-1) as string;

function restApi(route: string, { domainName, stage, prefix }: Address) {
  return ({ method = "POST", path, query = "", body, isBase64Encoded = false, headers = {} }: Sent) => {
    const lists = listed(new URLSearchParams(`?${query}`));
    return {
      resource: route,
      path: `${prefix}${path}`,
      httpMethod: method,
      headers,
      multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      queryStringParameters: mapLists(lists, last),
      multiValueQueryStringParameters: lists,
      pathParameters: parametersOf(route, path),
      requestContext: {
        resourcePath: route,
        httpMethod: method,
        path: `${prefix}${path}`,
        stage,
        domainName,
      },
      body: body ?? null,
      isBase64Encoded,
    };
  };
}

function httpApi(route: string, { domainName, stage, prefix }: Address) {
  return ({ method = "POST", path, query = "", body, isBase64Encoded = false, headers = {} }: Sent) => ({
    version: "2.0",
    routeKey: route === "$default" ? route : `${method} ${route}`,
    rawPath: `${prefix}${decodeURIComponent(path)}`,
    rawQueryString: query,
    headers,
    queryStringParameters: mapLists(listed(new URLSearchParams(`?${query}`)), String) ?? undefined,
    pathParameters: (route !== "$default" && parametersOf(route, path)) || undefined,
    requestContext: {
      http: { method, path: `${prefix}${decodeURIComponent(path)}` },
      routeKey: route === "$default" ? route : `${method} ${route}`,
      stage,
      domainName,
    },
    body,
    isBase64Encoded,
  });
}

function httpApiInFormat1(route: string, address: Address) {
  const asRest = restApi(route, address);
  return (sent: Sent) => ({
    version: "1.0",
    ...asRest(sent),
    path: `${address.prefix}${decodeURIComponent(sent.path)}`,
  });
}

function functionUrl(sent: Sent) {
  const address = { domainName: "xyz.lambda-url.eu-central-1.on.aws", stage: "$default", prefix: "" };
  return { ...httpApi("$default", address)(sent), rawPath: sent.path };
}

function loadBalancer(isMultiValue: boolean) {
  return ({ method = "POST", path, query = "", body = "", isBase64Encoded = false, headers = {} }: Sent) => {
    const pairs = query.split("&").flatMap((pair): [string, string][] => {
      const [name = "", ...rest] = pair.split("=");
      return pair === "" ? [] : [[name, rest.join("=")]];
    });
    const lists = listed(pairs) ?? {};
    return {
      requestContext: {
        elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/a/1" },
      },
      httpMethod: method,
      path,
      ...(isMultiValue
        ? {
            multiValueQueryStringParameters: lists,
            multiValueHeaders: Object.fromEntries(
              Object.entries(headers).map(([name, value]) => [name, [value]]),
            ),
          }
        : { queryStringParameters: mapLists(lists, last), headers }),
      body,
      isBase64Encoded,
    };
  };
}

const own = { domainName: OWN_HOST, stage: "prod", prefix: "" };
const http = { domainName: HTTP_API_HOST, stage: "prod", prefix: "/prod" };

/** What a service does by itself: `route` is a template that the path matches. */
export const doorsTo = (
  route: string,
): readonly (readonly [name: string, open: (sent: Sent) => object])[] => [
  ["a REST API", restApi(route, own)],
  ["a REST API's proxy resource", restApi("/{proxy+}", own)],
  ["a REST API under a base path", restApi(route, { ...own, domainName: CUSTOM_HOST, prefix: "/shop" })],
  [
    "a REST API's proxy resource under a base path",
    restApi("/{proxy+}", { ...own, domainName: CUSTOM_HOST, prefix: "/shop" }),
  ],
  [
    "a REST API on a domain that leaves the stage to the path",
    restApi(route, { ...own, domainName: CUSTOM_HOST, prefix: "/prod" }),
  ],
  ["an HTTP API", httpApi(route, { ...http, stage: "$default", prefix: "" })],
  ["an HTTP API with a stage", httpApi(route, http)],
  ["an HTTP API with a stage, on a domain", httpApi(route, { ...http, domainName: CUSTOM_HOST })],
  ["an HTTP API's route of everything", httpApi("$default", { ...http, stage: "$default", prefix: "" })],
  ["an HTTP API's route of everything, with a stage", httpApi("$default", http)],
  ["an HTTP API with a stage, in payload format 1", httpApiInFormat1(route, http)],
  ["a function URL", functionUrl],
  ["ALB", loadBalancer(false)],
  ["ALB with multi-value headers", loadBalancer(true)],
];
