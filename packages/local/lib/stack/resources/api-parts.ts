// Shared by HTTP APIs and REST APIs: an id, their own port, and how their routes find functions and
// authorizers. A part that can't run is a problem that the run reports.
import { createHash } from "node:crypto";
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import { type AuthorizerOptions, createAuthorizer } from "../gateway/authorizer.ts";
import {
  type BrokenRoute,
  type GatewayOptions,
  type GatewayRoute,
  startGateway,
} from "../gateway/gateway.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  functionOfArn,
  LOCAL_ACCOUNT_ID,
  type LocalApi,
  type LocalEnvironment,
  type LocalFunction,
  notRunLine,
  pathOf,
} from "../local-environment.ts";

export type Properties = Readonly<Record<string, unknown>>;

/** A route to a function, before anything is known about who may call it. */
export type FunctionRoute = Omit<GatewayRoute, "authorizer">;

/** The same in each run of a stack. */
export function apiIdOf({ generatedName }: ResolvedResource): string {
  return createHash("sha256").update(generatedName).digest("hex").slice(0, 10);
}

export type ApiSettings = Pick<GatewayOptions, "kind" | "region"> &
  Partial<Pick<GatewayOptions, "cors"> & Pick<LocalApi, "resources" | "gatewayResponses">>;

export async function startApi(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { kind, region, cors, resources = new Map(), gatewayResponses = new Map() }: ApiSettings,
): Promise<LocalApi> {
  const apiId = apiIdOf(resource);
  const server = await startGateway({
    kind,
    apiId,
    accountId: LOCAL_ACCOUNT_ID,
    region,
    cors,
    port: environment.nextPort(),
    now: environment.clock.now,
    log: environment.log,
  });
  environment.onStop(() => server.close());
  const api: LocalApi = {
    logicalId: resource.logicalId,
    path: resource.path,
    server,
    integrations: new Map(),
    authorizers: new Map(),
    resources,
    gatewayResponses,
    stagedProblems: [],
  };
  environment.apis.set(apiId, api);
  return api;
}

/** The API that a part belongs to; `undefined` if that API isn't run, which has already been reported. */
export function apiOf({ properties }: ResolvedResource, environment: LocalEnvironment): LocalApi | undefined {
  return environment.apis.get(String(properties.ApiId ?? properties.RestApiId));
}

export function notRun(resource: ResolvedResource, environment: LocalEnvironment, reason: string): void {
  environment.notRun.push(notRunLine(resource, reason));
}

export function functionRoute(
  environment: LocalEnvironment,
  uri: unknown,
  timeoutMs: number,
): FunctionRoute | BrokenRoute {
  const target = functionAt(environment, uri);
  if ("problem" in target) return target;
  const { host } = target;
  return {
    target: pathOf(environment.functions, target),
    invoke: (payload) => host.invoke(payload),
    timeoutMs,
  };
}

/** The route with the authorizer that the properties of a route or method name. */
export function authorizedRoute(
  route: FunctionRoute,
  { AuthorizationType = "NONE", AuthorizerId }: Properties,
  api: LocalApi,
): GatewayRoute | BrokenRoute {
  if (AuthorizationType === "NONE") return { ...route, authorizer: undefined };
  const authorizer = api.authorizers.get(String(AuthorizerId));
  if (!authorizer) return { problem: `${AuthorizationType} authorization isn't supported locally` };
  return "problem" in authorizer ? authorizer : { ...route, authorizer };
}

/** The differences between the two kinds of APIs in how they describe an authorizer. */
export type AuthorizerSettings = Pick<
  AuthorizerOptions,
  "identitySources" | "format" | "pattern" | "simpleResponses" | "resultTtlSeconds"
>;

export function authorizerDeployer(
  settingsOf: (properties: Properties) => AuthorizerSettings | BrokenRoute,
): DeployResource {
  const authorizerOf = (properties: Properties, environment: LocalEnvironment) => {
    const settings = settingsOf(properties);
    if ("problem" in settings) return settings;
    const target = functionAt(environment, properties.AuthorizerUri);
    if ("problem" in target) return target;
    const { host } = target;
    const { now } = environment.clock;
    return createAuthorizer({ ...settings, invoke: (payload) => host.invoke(payload), now });
  };
  return async (resource, environment) => {
    const { logicalId, properties } = resource;
    const authorizer = authorizerOf(properties, environment);
    apiOf(resource, environment)?.authorizers.set(logicalId, authorizer);
    if ("problem" in authorizer) notRun(resource, environment, authorizer.problem);
    return { ref: logicalId, attributes: { AuthorizerId: logicalId } };
  };
}

export async function deployStage(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const { StageName, StageVariables, Variables } = resource.properties;
  addStage(resource, environment, String(StageName), StageVariables ?? Variables);
  return { ref: String(StageName) };
}

export function addStage(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  name: string,
  given: unknown,
): void {
  const variables = given as Readonly<Record<string, string>> | undefined;
  const api = apiOf(resource, environment);
  api?.server.setStage(name, variables);
  for (const problemIn of api?.stagedProblems ?? []) {
    const problem = problemIn(variables ?? {});
    if (problem !== undefined) notRun(resource, environment, problem);
  }
}

function functionAt(environment: LocalEnvironment, uri: unknown): LocalFunction | BrokenRoute {
  return functionOfArn(environment, String(uri)) ?? { problem: `${uri} isn't a function of this run` };
}
