// Whether browsers of other origins may send the idempotency key: a preflight that doesn't list the header stops the call. No I/O.
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { isKeyHeader, KEY_HEADER } from "./key-header.ts";
import { keyedRoutes, type Route } from "./routes.ts";

/** The response to a preflight. */
interface Allowed {
  readonly path: string;
  readonly headers: readonly unknown[];
  /** `undefined` if no methods are listed; browsers then still send POST. */
  readonly methods: readonly unknown[] | undefined;
  /** With credentials a browser reads "*" as the name of a header. */
  readonly isWildcard: boolean;
}

export function findCors(app: App, fn: Resource, report: Report): void {
  for (const allowed of [...ofRoutes(app, fn), ...ofUrls(app, fn)]) {
    if (allowsKey(allowed)) continue;
    const { path, headers } = allowed;
    report(
      "warned",
      "cors-headers",
      fn,
      `${path} answers CORS preflight requests and allows ${headers.length > 0 ? headers.join(", ") : "no headers"}, but not ${KEY_HEADER}: browsers won't send calls with a key to ${ownerPath(fn)}. Add "${KEY_HEADER}" to the allowed headers of its CORS settings, or acknowledge this if the key isn't in that header`,
    );
  }
}

export function allowsKey({ headers, methods, isWildcard }: Omit<Allowed, "path">): boolean {
  const isRead = methods?.every((method) => /^(GET|HEAD|OPTIONS|PUT|DELETE)$/i.test(`${method}`));
  return (
    isRead === true ||
    // A token may resolve to the header.
    headers.some((name) => typeof name !== "string" || isKeyHeader(name) || (isWildcard && name === "*"))
  );
}

function ofRoutes(app: App, fn: Resource): Allowed[] {
  const all = keyedRoutes(app, fn).flatMap((route) => [...ofPreflight(route), ...ofHttpApi(app, route)]);
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}

/** A REST API responds to `OPTIONS` with a mock integration. */
function ofPreflight({ preflight, path, api }: Route): Allowed[] {
  const headers = preflight ? responseHeaders(preflight) : {};
  if (headers["access-control-allow-origin"] === undefined) return [];
  const methods = headers["access-control-allow-methods"];
  return [
    {
      path: api ? ownerPath(api) : path,
      headers: namesIn(headers["access-control-allow-headers"]) ?? [],
      methods: namesIn(methods),
      isWildcard: `${headers["access-control-allow-credentials"]}` !== "'true'",
    },
  ];
}

const RESPONSE_HEADER = "method.response.header.";

/** An integration has its responses as a list or by their patterns. */
const responseHeaders = (part: unknown): TemplateProperties => Object.fromEntries(headerEntries(part));

function headerEntries(part: unknown): (readonly [string, unknown])[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    name.startsWith(RESPONSE_HEADER)
      ? [[name.slice(RESPONSE_HEADER.length).toLowerCase(), value] as const]
      : headerEntries(value),
  );
}

/** Parses "'Content-Type,Authorization'"; `undefined` if it's empty. */
function namesIn(text: unknown): unknown[] | undefined {
  if (text === undefined) return undefined;
  return typeof text === "string" ? text.replace(/^'|'$/g, "").split(/\s*,\s*/) : [text];
}

function ofHttpApi(app: App, { api }: Route): Allowed[] {
  if (!api) return [];
  const { CorsConfiguration, Body } = app.propertiesOf(api);
  const settings = CorsConfiguration ?? valueIn(objectIn(Body), "x-amazon-apigateway-cors");
  if (settings === undefined || isIntrinsic(settings)) return [];
  const { AllowHeaders, allowHeaders, AllowMethods, allowMethods } = objectIn(settings);
  return [
    {
      path: ownerPath(api),
      headers: listIn(AllowHeaders ?? allowHeaders) ?? [],
      methods: listIn(AllowMethods ?? allowMethods),
      isWildcard: true,
    },
  ];
}

function ofUrls(app: App, fn: Resource): Allowed[] {
  return app.ofType("AWS::Lambda::Url").flatMap((url): Allowed[] => {
    const { TargetFunctionArn, Cors } = app.propertiesOf(url);
    if (Cors === undefined || isIntrinsic(Cors) || !app.targetsIn(TargetFunctionArn).includes(fn)) return [];
    const { AllowHeaders, AllowMethods } = objectIn(Cors);
    const headers = listIn(AllowHeaders) ?? [];
    return [{ path: ownerPath(url), headers, methods: listIn(AllowMethods), isWildcard: true }];
  });
}

/** A list that is only known at deployment counts as one unknown name. */
export const listIn = (value: unknown): readonly unknown[] | undefined =>
  value === undefined || Array.isArray(value) ? value : [value];

/** Settings that are only known at deployment, such as those of a condition. */
const isIntrinsic = (value: unknown) =>
  Object.keys(objectIn(value)).some((name) => /^(Fn::|Ref$)/.test(name));
