// HTTP APIs: the API opens its port; integrations, authorizers, routes and stages say what it serves.
import { createHash } from "node:crypto";
import type { Deployed, DeployResource, ResolvedResource } from "../deploy-resource.ts";
import type { CorsConfiguration } from "../gateway/cors.ts";
import { startGateway } from "../gateway/gateway.ts";
import { httpKind } from "../gateway/http-kind.ts";
import {
  LOCAL_ACCOUNT_ID,
  type LocalApi,
  type LocalEnvironment,
  type StackPlace,
} from "../local-environment.ts";
import { authorizerOf, integrationOf, routeOf } from "./http-api-parts.ts";

async function deployApi(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const { ProtocolType, Body, BodyS3Location, CorsConfiguration } = resource.properties;
  const apiId = createHash("sha256").update(resource.generatedName).digest("hex").slice(0, 10);
  if (ProtocolType !== "HTTP" || (Body ?? BodyS3Location) !== undefined) {
    notRun(resource, environment, ProtocolType === "HTTP" ? "an OpenAPI document" : `a ${ProtocolType} API`);
    return { ref: apiId };
  }
  const server = await startGateway({
    kind: httpKind,
    apiId,
    accountId: LOCAL_ACCOUNT_ID,
    region,
    cors: CorsConfiguration as CorsConfiguration | undefined,
    port: environment.nextPort(),
    now: environment.clock.now,
    log: environment.log,
  });
  environment.onStop(() => server.close());
  environment.apis.set(apiId, {
    logicalId: resource.logicalId,
    path: resource.path,
    server,
    integrations: new Map(),
    authorizers: new Map(),
    resources: new Map(),
    gatewayResponses: new Map(),
    stagedProblems: [],
  });
  return { ref: apiId, attributes: { ApiEndpoint: server.url, ApiId: apiId } };
}

async function deployIntegration(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const integration = integrationOf(resource.properties, environment);
  apiOf(resource, environment)?.integrations.set(resource.logicalId, integration);
  if ("problem" in integration) notRun(resource, environment, integration.problem);
  return { ref: resource.logicalId };
}

async function deployAuthorizer(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const authorizer = authorizerOf(resource.properties, environment);
  apiOf(resource, environment)?.authorizers.set(resource.logicalId, authorizer);
  if ("problem" in authorizer) notRun(resource, environment, authorizer.problem);
  return { ref: resource.logicalId, attributes: { AuthorizerId: resource.logicalId } };
}

async function deployRoute(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const api = apiOf(resource, environment);
  if (api) {
    const route = routeOf(resource.properties, api);
    api.server.setRoute(String(resource.properties.RouteKey), route);
    if ("problem" in route) {
      notRun(resource, environment, `${resource.properties.RouteKey} answers 500: ${route.problem}`);
    }
  }
  return { ref: resource.logicalId };
}

async function deployStage(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const { StageName, StageVariables } = resource.properties;
  apiOf(resource, environment)?.server.setStage(
    String(StageName),
    StageVariables as Record<string, string> | undefined,
  );
  return { ref: String(StageName) };
}

/** `undefined` where the API itself is not run, which has been said. */
function apiOf({ properties }: ResolvedResource, environment: LocalEnvironment): LocalApi | undefined {
  return environment.apis.get(String(properties.ApiId));
}

export function notRun(resource: ResolvedResource, environment: LocalEnvironment, reason: string): void {
  environment.notRun.push(`${resource.type} ${resource.path} (${resource.logicalId}): ${reason}`);
}

export const HTTP_API_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::ApiGatewayV2::Api": deployApi,
  "AWS::ApiGatewayV2::Authorizer": deployAuthorizer,
  "AWS::ApiGatewayV2::Integration": deployIntegration,
  "AWS::ApiGatewayV2::Route": deployRoute,
  "AWS::ApiGatewayV2::Stage": deployStage,
};
