// HTTP APIs: the API opens its port; integrations, authorizers, routes and stages say what it serves.
import type { Deployed, DeployResource, ResolvedResource } from "../deploy-resource.ts";
import type { CorsConfiguration } from "../gateway/cors.ts";
import { httpKind } from "../gateway/http-kind.ts";
import type { LocalApi, LocalEnvironment, StackPlace } from "../local-environment.ts";
import { authorizerOf, integrationOf, routeOf } from "./http-api-parts.ts";
import { apiIdOf, notRun, startApi } from "./start-api.ts";

async function deployApi(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const { ProtocolType, Body, BodyS3Location, CorsConfiguration } = resource.properties;
  const apiId = apiIdOf(resource);
  if (ProtocolType !== "HTTP" || (Body ?? BodyS3Location) !== undefined) {
    notRun(resource, environment, ProtocolType === "HTTP" ? "an OpenAPI document" : `a ${ProtocolType} API`);
    return { ref: apiId };
  }
  const cors = CorsConfiguration as CorsConfiguration | undefined;
  const { server } = await startApi(resource, environment, { region, kind: httpKind, cors });
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

export const HTTP_API_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::ApiGatewayV2::Api": deployApi,
  "AWS::ApiGatewayV2::Authorizer": deployAuthorizer,
  "AWS::ApiGatewayV2::Integration": deployIntegration,
  "AWS::ApiGatewayV2::Route": deployRoute,
  "AWS::ApiGatewayV2::Stage": deployStage,
};
