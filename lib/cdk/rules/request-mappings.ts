// How an API changes a request before the function gets it: mapping templates, parameter mappings and its cache. No I/O.
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { KEY_HEADER } from "./key-header.ts";
import { flatText } from "./named.ts";
import { keyedRoutes, type Route } from "./routes.ts";

export function findMappings(app: App, fn: Resource, report: Report): void {
  for (const route of keyedRoutes(app, fn)) {
    const { path, method } = route;
    const call = `${method} of ${path}`;
    for (const how of lossesOf(route)) {
      report(
        "warned",
        "dropped-key",
        fn,
        `${call} ${how}, so ${ownerPath(fn)} gets no key: forward the header, or acknowledge this if the key is in what it receives`,
      );
    }
    for (const how of changesOf(route)) {
      report("warned", "changed-key", fn, `${call} ${how}. Forward the key that the caller sent`);
    }
    if (isCached(app, route)) {
      report(
        "warned",
        "cached-post",
        fn,
        `${call} is answered from its API's cache, which ignores bodies and callers: a different request gets the previous answer, and ${ownerPath(fn)} doesn't run. Turn caching off for ${method}, or acknowledge this if the path and parameters identify the request`,
      );
    }
  }
}

/** Checks an API that sends messages itself. Without the header, a caller's retry becomes another message with another id. */
export function findMessages(app: App, queue: Resource, fn: Resource, report: Report): void {
  for (const { path, method, integration } of keyedRoutes(app, queue)) {
    const { requestTemplates, requestParameters } = integration;
    if (PASSES_KEY.test(JSON.stringify([requestTemplates, requestParameters]))) continue;
    report(
      "noted",
      "key-unknown",
      fn,
      `can't check whether the messages of ${method} ${path} to ${ownerPath(queue)} carry the caller's key: the API doesn't put ${KEY_HEADER} into them, and a caller's retry is a new message, so the key must come from the body`,
    );
  }
}

/** A mapping template creates the whole event. It may forward all headers. */
const PASSES_KEY = /idempotency[-_]?key|\$input\.params\(\s*\)/i;

function lossesOf({ integration: { type, requestTemplates, requestParameters } }: Route): string[] {
  const templates = `${type}`.toUpperCase() === "AWS" ? Object.entries(objectIn(requestTemplates)) : [];
  const removed = Object.keys(objectIn(requestParameters)).filter((name) =>
    new RegExp(`^remove:header\\.${KEY_HEADER}$`, "i").test(name),
  );
  return [
    ...templates
      .map(([contentType, template]) => [contentType, flatText(template)] as const)
      .filter(([, text]) => text !== "" && !PASSES_KEY.test(text))
      .map(([contentType]) => `has a mapping template for ${contentType} that doesn't mention ${KEY_HEADER}`),
    ...removed.map((name) => `has the parameter mapping ${name}`),
  ];
}

/** Values that differ for each request. */
const OF_ONE_REQUEST = /context\.(extendedRequestId|requestId|requestTime(Epoch)?|awsEndpointRequestId)/;

/** The value of a key in a JSON template: `"idempotencyKey": "$context.requestId"`. */
const SET_IN_TEMPLATE = /idempotency[-_]?key['"]?\s*:\s*['"]?(\$[\w.]+)/i;

function changesOf({ integration: { requestTemplates, requestParameters } }: Route): string[] {
  const set = Object.entries(objectIn(requestParameters))
    .filter(([name]) => new RegExp(`^(append|overwrite):header\\.${KEY_HEADER}$`, "i").test(name))
    .map(([, value]) => value);
  const inTemplates = Object.values(objectIn(requestTemplates)).flatMap(
    (template) => SET_IN_TEMPLATE.exec(flatText(template))?.[1] ?? [],
  );
  return [...set, ...inTemplates].flatMap((value) => {
    if (typeof value !== "string") return [];
    if (OF_ONE_REQUEST.test(value)) {
      return `sets ${KEY_HEADER} to ${value}, which is new for each request, so each retry runs again`;
    }
    if (/\$/.test(value)) return [];
    return `sets ${KEY_HEADER} to a constant, so only the first call runs and all others get its answer`;
  });
}

/**
 * A method setting for "*" switches the cache on for GET only.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-caching.html
 */
function isCached(app: App, { api, method, resourcePath }: Route): boolean {
  const stages = app.ofType("AWS::ApiGateway::Stage").map((each) => app.propertiesOf(each));
  const deployed = app
    .ofType("AWS::ApiGateway::Deployment")
    .map((each) => app.propertiesOf(each))
    .map(({ RestApiId, StageDescription }) => ({ RestApiId, ...objectIn(StageDescription) }));
  return [...stages, ...deployed]
    .map((each): TemplateProperties => each)
    .filter(({ RestApiId }) => api !== undefined && app.targetsIn(RestApiId).includes(api))
    .filter(({ CacheClusterEnabled }) => `${CacheClusterEnabled}` === "true")
    .flatMap(({ MethodSettings }) => (Array.isArray(MethodSettings) ? MethodSettings : []))
    .some(
      (setting) =>
        `${valueIn(setting, "CachingEnabled")}` === "true" &&
        (valueIn(setting, "HttpMethod") === method ||
          (method === "ANY" && /^(POST|PATCH)$/.test(`${valueIn(setting, "HttpMethod")}`))) &&
        ["/*", resourcePath].includes(plainPath(valueIn(setting, "ResourcePath"))),
    );
}

/** Method settings encode "/orders" as "/~1orders". */
const plainPath = (path: unknown) => `${path}`.replaceAll("~1", "/").replace(/^\/+/, "/");
