// What the integrations, authorizers and routes of an HTTP API become here: something that runs, or the reason why
// it cannot. Starts nothing.
import { type Authorizer, createAuthorizer } from "../gateway/authorizer.ts";
import type { BrokenRoute, GatewayRoute } from "../gateway/gateway.ts";
import { functionOfArn, type LocalApi, type LocalEnvironment, pathOf } from "../local-environment.ts";

type Properties = Readonly<Record<string, unknown>>;

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
const DEFAULT_INTEGRATION_TIMEOUT_MS = 30_000;

export function integrationOf(
  properties: Properties,
  environment: LocalEnvironment,
): Omit<GatewayRoute, "authorizer"> | BrokenRoute {
  const { IntegrationType, IntegrationUri, PayloadFormatVersion, TimeoutInMillis } = properties;
  if (IntegrationType !== "AWS_PROXY") return { problem: `integration type ${IntegrationType} is not run` };
  if (PayloadFormatVersion !== "2.0") {
    return { problem: `payload format ${PayloadFormatVersion} is not run, only 2.0 is` };
  }
  const target = functionOfArn(environment, String(IntegrationUri));
  if (!target) return { problem: `${IntegrationUri} is not a function that runs here` };
  return {
    target: pathOf(environment.functions, target),
    invoke: (payload) => target.host.invoke(payload),
    timeoutMs: Number(TimeoutInMillis ?? DEFAULT_INTEGRATION_TIMEOUT_MS),
  };
}

export function authorizerOf(
  properties: Properties,
  environment: LocalEnvironment,
): Authorizer | BrokenRoute {
  const { AuthorizerType, AuthorizerUri } = properties;
  if (AuthorizerType !== "REQUEST") return { problem: `a ${AuthorizerType} authorizer is not run` };
  const target = functionOfArn(environment, String(AuthorizerUri));
  if (!target) return { problem: `${AuthorizerUri} is not a function that runs here` };
  return createAuthorizer({
    invoke: (payload) => target.host.invoke(payload),
    identitySources: [properties.IdentitySource ?? []].flat().map(String),
    format: properties.AuthorizerPayloadFormatVersion === "1.0" ? "1.0" : "2.0",
    simpleResponses: String(properties.EnableSimpleResponses) === "true",
    resultTtlSeconds: Number(properties.AuthorizerResultTtlInSeconds ?? 0),
    now: environment.clock.now,
  });
}

export function routeOf(properties: Properties, api: LocalApi): GatewayRoute | BrokenRoute {
  const { Target, AuthorizationType = "NONE", AuthorizerId } = properties;
  const integration = api.integrations.get(String(Target).replace(/^integrations\//, ""));
  if (!integration) return { problem: "it has no integration that is run here" };
  if ("problem" in integration) return integration;
  if (AuthorizationType === "NONE") return { ...integration, authorizer: undefined };

  const authorizer = api.authorizers.get(String(AuthorizerId));
  if (!authorizer) return { problem: `${AuthorizationType} authorization is not run` };
  return "problem" in authorizer ? authorizer : { ...integration, authorizer };
}
