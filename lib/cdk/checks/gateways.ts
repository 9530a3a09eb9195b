// Whether the API in front of a function waits for as long as the function may run.
import { type CfnResource, Stack, Token } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { isPartOf, referencedBy } from "./references.ts";
import { resourcesOfType } from "./resources.ts";

/**
 * How long an API waits in milliseconds by default, and the properties that set the time and name the
 * function.
 */
const APIS: Readonly<Record<string, { readonly defaultMs: number; readonly integration: string }>> = {
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
  "AWS::ApiGatewayV2::Integration": { defaultMs: 30_000, integration: "integrationUri" },
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  "AWS::ApiGateway::Method": { defaultMs: 29_000, integration: "integration" },
};

/**
 * How long the APIs before a function wait, in seconds; `NaN` for a time that is known only at deployment.
 */
export function gatewayLimits(fn: IConstruct): number[] {
  return Object.keys(APIS).flatMap((type) =>
    resourcesOfType(fn, type).flatMap((resource) => limitOf(resource, fn) ?? []),
  );
}

function limitOf(resource: CfnResource, fn: IConstruct): number | undefined {
  const api = APIS[resource.cfnResourceType];
  if (!api) return undefined;
  const properties = resource as unknown as Readonly<Record<string, unknown>>;
  const integration = properties[api.integration];
  if (!referencedBy(integration, resource).some((target) => isPartOf(target, fn))) return undefined;
  const holder = api.integration === "integration" ? Stack.of(resource).resolve(integration) : properties;
  const { timeoutInMillis = api.defaultMs } = Object(holder) as { timeoutInMillis?: number };
  return Token.isUnresolved(timeoutInMillis) ? Number.NaN : Number(timeoutInMillis) / 1000;
}
