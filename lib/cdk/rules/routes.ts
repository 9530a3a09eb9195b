// The REST and HTTP API methods that lead callers to a function, however the API was created. No I/O.
import { type App, objectIn, ownerPath, type Resource, type TemplateProperties, valueIn } from "./app.ts";

/** One method of an API that leads to a function or a queue. */
export interface Route {
  /** The path of the construct that users know. */
  readonly path: string;
  /** "POST", or "ANY". */
  readonly method: string;
  readonly api: Resource | undefined;
  /** "/orders/{id}", of a REST API. */
  readonly resourcePath: string;
  /** With OpenAPI's names: `requestTemplates`. */
  readonly integration: TemplateProperties;
  /** A REST API's own response to a preflight for this path, without invoking the function. */
  readonly preflight: TemplateProperties | undefined;
}

type IsTarget = (part: unknown) => boolean;

const REST_API = "AWS::ApiGateway::RestApi";
const HTTP_API = "AWS::ApiGatewayV2::Api";

/** The methods that HTTP handlers require a key for by default. */
const KEYED = ["POST", "PATCH", "ANY"];

const known = new WeakMap<App, Map<Resource, readonly Route[]>>();

/** The routes to a function or a queue whose calls have a key. */
export function keyedRoutes(app: App, target: Resource): readonly Route[] {
  const ofApp = known.get(app) ?? new Map<Resource, readonly Route[]>();
  known.set(app, ofApp);
  const isTarget = (part: unknown) => app.targetsIn(part).includes(target);
  const routes = ofApp.get(target) ?? allRoutes(app, isTarget).filter(({ method }) => KEYED.includes(method));
  ofApp.set(target, routes);
  return routes;
}

const allRoutes = (app: App, isTarget: IsTarget): Route[] => [
  ...methods(app, isTarget),
  ...routes(app, isTarget),
  ...quickApis(app, isTarget),
  ...[REST_API, HTTP_API].flatMap((type) => app.ofType(type).flatMap((api) => described(app, api, isTarget))),
];

function methods(app: App, isTarget: IsTarget): Route[] {
  const all = app.ofType("AWS::ApiGateway::Method").map((each) => ({ each, ...app.propertiesOf(each) }));
  const integrationOf = ({ Integration }: TemplateProperties) => asInOpenApi(objectIn(Integration));
  return all
    .filter((method) => isTarget(integrationOf(method).uri))
    .map((method): Route => {
      const { each, HttpMethod, ResourceId, RestApiId } = method as typeof method & TemplateProperties;
      const place = placeOf(app, ResourceId);
      const options = all.find(
        (other) =>
          valueIn(other, "HttpMethod") === "OPTIONS" && placeOf(app, valueIn(other, "ResourceId")) === place,
      );
      return {
        path: ownerPath(each),
        method: `${HttpMethod}`,
        api: app.targetIn(RestApiId, REST_API),
        resourcePath: pathOf(app, ResourceId),
        integration: integrationOf(method),
        preflight: options && integrationOf(options),
      };
    });
}

/** The resource of a REST API, the API itself for its root, or an id. */
const placeOf = (app: App, id: unknown) => app.targetsIn(id)[0] ?? JSON.stringify(id);

/** A resource of a REST API names its parent; the first one has none in the app. */
function pathOf(app: App, id: unknown): string {
  const resource = app.targetIn(id, "AWS::ApiGateway::Resource");
  if (!resource) return "/";
  const { ParentId, PathPart } = app.propertiesOf(resource);
  return `${pathOf(app, ParentId).replace(/\/$/, "")}/${PathPart}`;
}

function routes(app: App, isTarget: IsTarget): Route[] {
  return app.ofType("AWS::ApiGatewayV2::Route").flatMap((each): Route[] => {
    const { ApiId, RouteKey, Target } = app.propertiesOf(each);
    const api = app.targetIn(ApiId, HTTP_API);
    const leadsTo = app.targetIn(Target, "AWS::ApiGatewayV2::Integration");
    const integration = asInOpenApi(leadsTo ? app.propertiesOf(leadsTo) : {});
    const isWebSocket = api !== undefined && app.propertiesOf(api).ProtocolType === "WEBSOCKET";
    const { integrationUri, requestParameters } = integration;
    // A service integration names the queue in a parameter.
    const leadsToIt = isTarget(integrationUri) || isTarget(valueIn(objectIn(requestParameters), "QueueUrl"));
    if (isWebSocket || !leadsToIt) return [];
    return [{ ...NO_REST, path: ownerPath(each), method: methodIn(RouteKey), api, integration }];
  });
}

function quickApis(app: App, isTarget: IsTarget): Route[] {
  return app.ofType(HTTP_API).flatMap((api): Route[] => {
    const { Target, RouteKey } = app.propertiesOf(api);
    if (!isTarget(Target)) return [];
    return [{ ...NO_REST, path: ownerPath(api), method: methodIn(RouteKey), api, integration: {} }];
  });
}

const NO_REST = { resourcePath: "", preflight: undefined };

/** "POST /orders"; "$default" matches every method. */
function methodIn(routeKey: unknown): string {
  const [method = ""] = typeof routeKey === "string" ? routeKey.split(" ") : [];
  return method === "" || method === "$default" ? "ANY" : method;
}

const INTEGRATION = "x-amazon-apigateway-integration";
const ANY = "x-amazon-apigateway-any-method";

function described(app: App, api: Resource, isTarget: IsTarget): Route[] {
  const paths = objectIn(valueIn(objectIn(app.propertiesOf(api).Body), "paths"));
  return Object.entries(paths).flatMap(([resourcePath, operations]) =>
    Object.entries(objectIn(operations)).flatMap(([name, operation]): Route[] => {
      const integration = objectIn(valueIn(objectIn(operation), INTEGRATION));
      if (!isTarget(integration.uri)) return [];
      const method = name === ANY ? "ANY" : name.toUpperCase();
      const options = valueIn(objectIn(operations), "options", INTEGRATION);
      const preflight = options === undefined ? undefined : objectIn(options);
      return [{ path: ownerPath(api), method, api, resourcePath, integration, preflight }];
    }),
  );
}

const asInOpenApi = (properties: TemplateProperties) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
  );
