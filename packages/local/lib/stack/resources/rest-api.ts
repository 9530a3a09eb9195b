// REST APIs: the API opens its port; resources define its paths, methods define the responses, and a stage prefixes the paths.
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { BrokenRoute, GatewayRoute, MockRoute } from "../gateway/gateway.ts";
import { type GatewayResponseProperties, unknownParts } from "../gateway/gateway-responses.ts";
import { restKind } from "../gateway/rest-kind.ts";
import type { LocalApi, LocalEnvironment, ResolvedResource, StackPlace } from "../local-environment.ts";
import {
  addStage,
  apiIdOf,
  apiOf,
  authorizedRoute,
  authorizerDeployer,
  deployStage,
  functionRoute,
  notRun,
  type Properties,
  startApi,
} from "./api-parts.ts";

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const DEFAULT_INTEGRATION_TIMEOUT_MS = 29_000;
/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-authorizer.html */
const DEFAULT_RESULT_TTL_SECONDS = 300;
const ROOT = "root";
const STAGE_VARIABLE = /\$\{stageVariables\.(\w+)\}/g;

async function deployApi(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const { Body, BodyS3Location, BinaryMediaTypes } = resource.properties;
  const apiId = apiIdOf(resource);
  const deployed = { ref: apiId, attributes: { RootResourceId: ROOT, RestApiId: apiId } };
  if ((Body ?? BodyS3Location) !== undefined) {
    notRun(resource, environment, "an OpenAPI document");
    return deployed;
  }
  const gatewayResponses = new Map<string, GatewayResponseProperties>();
  await startApi(resource, environment, {
    region,
    kind: restKind([BinaryMediaTypes ?? []].flat().map(String), gatewayResponses),
    gatewayResponses,
    resources: new Map([[ROOT, ""]]),
  });
  return deployed;
}

async function deployPath(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const { ParentId, PathPart } = resource.properties;
  const resources = apiOf(resource, environment)?.resources;
  resources?.set(resource.logicalId, `${resources.get(String(ParentId)) ?? ""}/${PathPart}`);
  return { ref: resource.logicalId };
}

const deployAuthorizer = authorizerDeployer((properties) => {
  const { Type, IdentitySource, IdentityValidationExpression: pattern } = properties;
  if (Type !== "TOKEN" && Type !== "REQUEST")
    return { problem: `a ${Type} authorizer isn't supported locally` };
  return {
    identitySources: String(IdentitySource ?? "")
      .split(",")
      .filter((source) => source.trim() !== "")
      .map((source) => `$${source.trim().replace(/^method\./, "")}`),
    format: Type,
    pattern: pattern === undefined ? undefined : new RegExp(`^(?:${pattern})$`),
    simpleResponses: false,
    resultTtlSeconds: Number(properties.AuthorizerResultTtlInSeconds ?? DEFAULT_RESULT_TTL_SECONDS),
  };
});

async function deployMethod(resource: ResolvedResource, environment: LocalEnvironment): Promise<Deployed> {
  const { HttpMethod, ResourceId, ApiKeyRequired, RequestValidatorId } = resource.properties;
  const api = apiOf(resource, environment);
  if (!api) return { ref: resource.logicalId };
  const routeKey = `${HttpMethod} ${api.resources.get(String(ResourceId)) || "/"}`;
  const problemOf = (route: ReturnType<typeof routeOf>) =>
    "problem" in route ? `${routeKey} fails: ${route.problem}` : undefined;
  if (String(Object(resource.properties.Integration).Uri).includes(`\${stageVariables.`)) {
    const staged = (variables: Readonly<Record<string, string>>) =>
      routeOf(withVariables(resource.properties, variables), api, environment);
    api.server.setRoute(routeKey, staged);
    api.stagedProblems.push((variables) => problemOf(staged(variables)));
  } else {
    const route = routeOf(resource.properties, api, environment);
    api.server.setRoute(routeKey, route);
    const problem = problemOf(route);
    if (problem !== undefined) notRun(resource, environment, problem);
  }
  if (String(ApiKeyRequired) === "true") notRun(resource, environment, "API keys aren't required");
  if (RequestValidatorId !== undefined) notRun(resource, environment, "requests aren't validated");
  return { ref: resource.logicalId };
}

/** The function that the URI names, by the variables of a stage. */
function withVariables(properties: Properties, variables: Readonly<Record<string, string>>): Properties {
  const integration = Object(properties.Integration) as Properties;
  const Uri = String(integration.Uri).replaceAll(
    STAGE_VARIABLE,
    (variable, name: string) => variables[name] ?? variable,
  );
  return { ...properties, Integration: { ...integration, Uri } };
}

function routeOf(
  properties: Properties,
  api: LocalApi,
  environment: LocalEnvironment,
): GatewayRoute | MockRoute | BrokenRoute {
  const { Type, Uri, TimeoutInMillis, IntegrationResponses } = Object(properties.Integration) as Properties;
  if (Type === "MOCK") return mockOf(IntegrationResponses);
  if (Type !== "AWS_PROXY") return { problem: `integration type ${Type} isn't supported locally` };
  const route = functionRoute(environment, Uri, Number(TimeoutInMillis ?? DEFAULT_INTEGRATION_TIMEOUT_MS));
  return "problem" in route ? route : authorizedRoute(route, properties, api);
}

/** The first response in the list with its static headers, which is what the CDK creates for preflight requests. */
function mockOf(responses: unknown): MockRoute {
  const [first] = [responses ?? []].flat();
  const { StatusCode, ResponseParameters } = Object(first) as Properties;
  const parameters = Object.entries(Object(ResponseParameters) as Properties);
  const headers = parameters.flatMap(([name, value]) => {
    const [, header] = /^method\.response\.header\.(.+)$/.exec(name) ?? [];
    const [, literal] = /^'(.*)'$/.exec(String(value)) ?? [];
    return header !== undefined && literal !== undefined ? [[header.toLowerCase(), literal] as const] : [];
  });
  const answer = {
    statusCode: Number(StatusCode ?? 200),
    headers: Object.fromEntries(headers),
    cookies: [],
    body: Buffer.alloc(0),
  };
  return { answer };
}

/** A deployment may include its own stage. */
async function deployDeployment(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const { StageName, StageDescription } = resource.properties;
  if (StageName !== undefined) {
    addStage(resource, environment, String(StageName), Object(StageDescription).Variables);
  }
  return { ref: resource.logicalId, attributes: { DeploymentId: resource.logicalId } };
}

async function deployGatewayResponse(
  resource: ResolvedResource,
  environment: LocalEnvironment,
): Promise<Deployed> {
  const properties = resource.properties as GatewayResponseProperties;
  apiOf(resource, environment)?.gatewayResponses.set(String(properties.ResponseType), properties);
  const unknown = unknownParts(properties);
  if (unknown.length > 0) notRun(resource, environment, `it's created without ${unknown.join(", ")}`);
  return { ref: resource.logicalId, attributes: { Id: resource.logicalId } };
}

export const REST_API_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::ApiGateway::RestApi": deployApi,
  "AWS::ApiGateway::Resource": deployPath,
  "AWS::ApiGateway::Authorizer": deployAuthorizer,
  "AWS::ApiGateway::Deployment": deployDeployment,
  "AWS::ApiGateway::GatewayResponse": deployGatewayResponse,
  "AWS::ApiGateway::Method": deployMethod,
  "AWS::ApiGateway::Stage": deployStage,
};
