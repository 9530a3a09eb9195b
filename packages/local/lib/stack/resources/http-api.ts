// HTTP APIs: the API opens its port; integrations, authorizers, routes and stages define what it serves.
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { CorsConfiguration } from "../gateway/cors.ts";
import type { BrokenRoute } from "../gateway/gateway.ts";
import { httpKind } from "../gateway/http-kind.ts";
import type { LocalEnvironment, ResolvedResource, StackPlace } from "../local-environment.ts";
import {
  apiIdOf,
  apiOf,
  authorizedRoute,
  authorizerDeployer,
  deployStage,
  type FunctionRoute,
  functionRoute,
  notRun,
  type Properties,
  startApi,
} from "./api-parts.ts";

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
const DEFAULT_INTEGRATION_TIMEOUT_MS = 30_000;

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

function integrationOf(properties: Properties, environment: LocalEnvironment): FunctionRoute | BrokenRoute {
  const { IntegrationType, IntegrationUri, PayloadFormatVersion, TimeoutInMillis } = properties;
  if (IntegrationType !== "AWS_PROXY")
    return { problem: `integration type ${IntegrationType} isn't supported locally` };
  if (PayloadFormatVersion !== "2.0") {
    return { problem: `payload format ${PayloadFormatVersion} isn't supported locally, only 2.0 is` };
  }
  return functionRoute(
    environment,
    IntegrationUri,
    Number(TimeoutInMillis ?? DEFAULT_INTEGRATION_TIMEOUT_MS),
  );
}

const deployAuthorizer = authorizerDeployer((properties) => {
  if (properties.AuthorizerType !== "REQUEST") {
    return { problem: `a ${properties.AuthorizerType} authorizer isn't supported locally` };
  }
  return {
    identitySources: [properties.IdentitySource ?? []].flat().map(String),
    format: properties.AuthorizerPayloadFormatVersion === "1.0" ? "1.0" : "2.0",
    simpleResponses: String(properties.EnableSimpleResponses) === "true",
    resultTtlSeconds: Number(properties.AuthorizerResultTtlInSeconds ?? 0),
  };
});

async function deployRoute(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const api = apiOf(resource, environment);
  if (api) {
    const { Target } = resource.properties;
    const integration = api.integrations.get(String(Target).replace(/^integrations\//, ""));
    const found = integration ?? { problem: "it has no integration that runs locally" };
    const route = "problem" in found ? found : authorizedRoute(found, resource.properties, api);
    api.server.setRoute(String(resource.properties.RouteKey), route);
    if ("problem" in route) {
      notRun(resource, environment, `${resource.properties.RouteKey} answers 500: ${route.problem}`);
    }
  }
  return { ref: resource.logicalId };
}

export const HTTP_API_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::ApiGatewayV2::Api": deployApi,
  "AWS::ApiGatewayV2::Authorizer": deployAuthorizer,
  "AWS::ApiGatewayV2::Integration": deployIntegration,
  "AWS::ApiGatewayV2::Route": deployRoute,
  "AWS::ApiGatewayV2::Stage": deployStage,
};
