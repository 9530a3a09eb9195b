/** Finds a service's endpoint. */
import type { Environment } from "./environment.ts";
import { LeanClientError } from "./lean-client-error.ts";
import { readProfile, refuseForeignPlace } from "./profile.ts";
import { DYNAMODB, type LeanService } from "./service.ts";

export interface EndpointOptions {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}

export interface Endpoint {
  readonly region: string;
  readonly url: URL;
}

/** By the prefix of their Region names: the suffix of a partition's hosts, and that of its dual-stack (IPv6) hosts. */
const PARTITIONS: readonly (readonly [prefix: string, suffix: string, dualStackSuffix: string])[] = [
  ["cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"],
  ["eusc-", "amazonaws.eu", "api.amazonwebservices.eu"],
  ["us-iso-", "c2s.ic.gov", "api.aws.ic.gov"],
  ["us-isob-", "sc2s.sgov.gov", "api.aws.scloud"],
  ["us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"],
  ["eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"],
  ["", "amazonaws.com", "api.aws"],
];

/** Region names from when FIPS was part of the name. */
const PSEUDO_REGION = /^fips-|-fips$/;

/** @throws LeanClientError if the Region is unknown, the endpoint isn't a URL, or the SDK would refuse it or send elsewhere */
export function placeOf(options: EndpointOptions, env: Environment, service = DYNAMODB): Endpoint {
  const named = options.region ?? env.AWS_REGION;
  if (!named) {
    throw new LeanClientError(
      "RegionMissingError",
      "no Region found: set `region` of the client, or AWS_REGION",
    );
  }
  const region = named.replace(PSEUDO_REGION, "");
  const configured = options.endpoint ?? configuredEndpoint(env, service);
  // It becomes part of a host name that gets a session token.
  if (!/^[a-z][a-z\d-]*$/.test(region) || (region === "local" && configured === undefined)) {
    throw new LeanClientError(
      "RegionInvalidError",
      'the Region must be a name such as "eu-central-1" ("local" only works with an endpoint)',
    );
  }
  refuseForeignPlace(readProfile(env), env, configured);
  const isFips = region !== named || isSet(env, "AWS_USE_FIPS_ENDPOINT");
  const isDualStack = isSet(env, "AWS_USE_DUALSTACK_ENDPOINT");
  if (configured !== undefined && (isFips || isDualStack)) {
    throw new LeanClientError("EndpointError", "FIPS and dual stack can't be combined with an endpoint");
  }
  if (env.AWS_ACCOUNT_ID_ENDPOINT_MODE === "required") {
    throw new LeanClientError(
      "EndpointError",
      "AWS_ACCOUNT_ID_ENDPOINT_MODE=required is only supported by the SDK client: unset it, or use that client",
    );
  }
  const url =
    configured === undefined
      ? new URL(`https://${hostIn(region, isFips, isDualStack, service)}`)
      : readUrl(configured, service);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { region, url };
}

/** @throws LeanClientError for any other value, which would silently mean false */
function isSet(env: Environment, name: "AWS_USE_FIPS_ENDPOINT" | "AWS_USE_DUALSTACK_ENDPOINT"): boolean {
  const value = env[name] || "false";
  if (value === "true" || value === "false") return value === "true";
  throw new LeanClientError("EndpointError", `${name} must be "true" or "false"`);
}

/** The endpoint from the environment, for this service or for all. */
export function configuredEndpoint(env: Environment, { endpointVariable }: LeanService): string | undefined {
  if (env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === "true") return undefined;
  return env[endpointVariable] || env.AWS_ENDPOINT_URL || undefined;
}

function readUrl(configured: string, service: LeanService): URL {
  const url = URL.canParse(configured) ? new URL(configured) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new LeanClientError(
    "EndpointError",
    `the endpoint must be an http or https URL such as "http://localhost:8000": set \`endpoint\` of the client, or ${service.endpointVariable}`,
  );
}

function hostIn(region: string, fips: boolean, isDualStack: boolean, { name }: LeanService): string {
  const [, suffix, dualStackSuffix] = PARTITIONS.find(([prefix]) => region.startsWith(prefix))!;
  // All GovCloud endpoints are FIPS, but only dual-stack ones have it in their name, and EventBridge's never do.
  const isNamedFips = !region.startsWith("us-gov-") || (isDualStack && name !== "events");
  return `${name}${fips && isNamedFips ? "-fips" : ""}.${region}.${isDualStack ? dualStackSuffix : suffix}`;
}
