/** Where a service is. */
import type { Environment } from "./environment.ts";
import { LeanClientError } from "./lean-client-error.ts";
import { DYNAMODB, type LeanService } from "./service.ts";

export interface EndpointOptions {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}

export interface Endpoint {
  readonly region: string;
  readonly url: URL;
}

/** By the beginning of their Regions' names: what hosts of a partition end in, and hosts that have IPv6 too. */
const PARTITIONS: readonly (readonly [prefix: string, suffix: string, dualStackSuffix: string])[] = [
  ["cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"],
  ["eusc-", "amazonaws.eu", "api.amazonwebservices.eu"],
  ["us-iso-", "c2s.ic.gov", "api.aws.ic.gov"],
  ["us-isob-", "sc2s.sgov.gov", "api.aws.scloud"],
  ["us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"],
  ["eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"],
  ["", "amazonaws.com", "api.aws"],
];

/**
 * @throws LeanClientError where no Region is known, or the endpoint is no URL
 */
export function placeOf(options: EndpointOptions, env: Environment, service = DYNAMODB): Endpoint {
  const region = options.region ?? env.AWS_REGION;
  if (!region) {
    throw new LeanClientError(
      "RegionMissingError",
      "no Region is known: set `region` of the client, or AWS_REGION",
    );
  }
  // It becomes part of a host's name, to which a session token is sent.
  if (!/^[a-z][a-z\d-]*$/.test(region)) {
    throw new LeanClientError("RegionInvalidError", 'the Region must be a name such as "eu-central-1"');
  }
  return {
    region,
    url: configuredUrl(options, env, service) ?? new URL(`https://${hostIn(region, env, service)}`),
  };
}

/** The endpoint that the environment names for a service, or for all. */
export function configuredEndpoint(env: Environment, { endpointVariable }: LeanService): string | undefined {
  if (env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === "true") return undefined;
  return env[endpointVariable] || env.AWS_ENDPOINT_URL || undefined;
}

function configuredUrl(
  { endpoint }: EndpointOptions,
  env: Environment,
  service: LeanService,
): URL | undefined {
  const configured = endpoint ?? configuredEndpoint(env, service);
  if (configured === undefined) return undefined;
  const url = URL.canParse(configured) ? new URL(configured) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new LeanClientError(
    "EndpointError",
    `the endpoint must be an http or https URL such as "http://localhost:8000": set \`endpoint\` of the client, or ${service.endpointVariable}`,
  );
}

function hostIn(region: string, env: Environment, { name }: LeanService): string {
  const [, suffix, dualStackSuffix] = PARTITIONS.find(([prefix]) => region.startsWith(prefix))!;
  const isDualStack = env.AWS_USE_DUALSTACK_ENDPOINT === "true";
  // All of GovCloud's endpoints are FIPS's, but only those with IPv6 say so, and EventBridge's do not.
  const isNamedFips = !region.startsWith("us-gov-") || (isDualStack && name !== "events");
  const isFips = env.AWS_USE_FIPS_ENDPOINT === "true" && isNamedFips;
  return `${name}${isFips ? "-fips" : ""}.${region}.${isDualStack ? dualStackSuffix : suffix}`;
}
