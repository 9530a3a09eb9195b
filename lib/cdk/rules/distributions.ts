// Whether CloudFront forwards a call to the function with its key. No I/O.
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { allowsKey, listIn } from "./cors.ts";
import { isKeyHeader, KEY_HEADER, mayHoldKey } from "./key-header.ts";
import { keyedRoutes } from "./routes.ts";

/**
 * The policies that AWS manages, and whether they forward every header.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
 */
const MANAGED_REQUEST_POLICIES: Readonly<Record<string, boolean>> = {
  "216adef6-5c7f-47e4-b989-5492eafa07d3": true, // AllViewer
  "33f36d7e-f396-46d9-90e0-52428a34d9dc": true, // AllViewerAndCloudFrontHeaders-2022-06
  "b689b0a8-53d0-40ab-baf2-68738e2966ac": true, // AllViewerExceptHostHeader
  "59781a5b-3903-41f3-afcb-af62929ccde1": false, // CORS-CustomOrigin
  "775133bc-15f2-49f9-abea-afb2e0bf67d2": false, // Elemental-MediaTailor
  "88a5eaf4-2fd4-4709-b370-b4c650ea3fcf": false, // CORS-S3Origin
  "acba4595-bd28-49b8-b9fe-13317c0390fa": false, // UserAgentRefererHeaders
  "bf0718e1-ba1e-49d1-88b1-f726733018ae": false, // HostHeaderOnly
};

/** None has the key's header: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html */
const MANAGED_CACHE_POLICIES = [
  "08627262-05a9-4f76-9ded-b50ca2e3a84f",
  "2e54312d-136d-493c-8eb9-b001f22f67d2",
  "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
  "4cc15a8a-d715-48a4-82b8-cc0b614638fe",
  "658327ea-f89d-4fab-a63d-7e88639e58f6",
  "83da9c7e-98b4-4e11-a168-04f0df8e2c65",
  "b2884449-e4de-46a7-ac36-70bc7f1ddd6d",
];

export function findDistributions(app: App, fn: Resource, report: Report): void {
  for (const distribution of app.ofType("AWS::CloudFront::Distribution")) {
    const config = objectIn(app.propertiesOf(distribution).DistributionConfig);
    for (const origin of partsIn(config.Origins)) {
      if (!leadsTo(app, origin.DomainName, fn)) continue;
      const behaviors = [objectIn(config.DefaultCacheBehavior), ...partsIn(config.CacheBehaviors)];
      const ofOrigin = behaviors.filter(({ TargetOriginId }) => TargetOriginId === origin.Id);
      findOrigin(app, fn, ownerPath(distribution), origin, ofOrigin, report);
    }
  }
}

function findOrigin(
  app: App,
  fn: Resource,
  path: string,
  origin: TemplateProperties,
  behaviors: readonly TemplateProperties[],
  report: Report,
): void {
  const set = partsIn(origin.OriginCustomHeaders).some(({ HeaderName }) => isKeyHeader(HeaderName));
  if (set) {
    report(
      "warned",
      "changed-key",
      fn,
      `${path} sets ${KEY_HEADER} to a constant on every request to ${ownerPath(fn)}, so only the first call runs and all others get its answer. Forward the key that the caller sent`,
    );
  }
  findMethods(fn, path, behaviors, report);
  for (const behavior of behaviors.filter(takesPosts)) {
    if (!set) findHeader(app, fn, { path, behavior }, report);
    findCorsPolicy(app, fn, { path, behavior }, report);
  }
}

function findMethods(
  fn: Resource,
  path: string,
  behaviors: readonly TemplateProperties[],
  report: Report,
): void {
  if (behaviors.length > 0 && !behaviors.some(takesPosts)) {
    report(
      "warned",
      "refused-methods",
      fn,
      `${path} doesn't forward POST and PATCH to ${ownerPath(fn)}: CloudFront rejects them with 403. Allow all methods (AllowedMethods.ALLOW_ALL), or acknowledge this if callers send them elsewhere`,
    );
  }
  if (behaviors.some(({ CachedMethods }) => isPosting(CachedMethods))) {
    report(
      "warned",
      "cached-post",
      fn,
      `${path} is set to cache POST or PATCH in front of ${ownerPath(fn)}, but CloudFront only caches GET, HEAD and OPTIONS: the deployment would fail. Remove them from cachedMethods`,
    );
  }
}

interface Behavior {
  readonly path: string;
  readonly behavior: TemplateProperties;
}

function findHeader(app: App, fn: Resource, { path, behavior }: Behavior, report: Report): void {
  const { PathPattern = "*" } = behavior;
  const forwarded = forwardsKey(app, behavior);
  if (forwarded === false) {
    report(
      "warned",
      "header-not-forwarded",
      fn,
      `${path} forwards requests for ${PathPattern} to ${ownerPath(fn)} without ${KEY_HEADER}, which CloudFront removes: give the behavior OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER, or a policy with that header`,
    );
  } else if (forwarded === undefined) {
    report(
      "noted",
      "header-unknown",
      fn,
      `can't check whether ${path} forwards ${KEY_HEADER} to ${ownerPath(fn)}: a policy of its behavior for ${PathPattern} isn't defined in this app`,
    );
  }
}

/** Matches a function URL, an API or a load balancer by its domain name. */
function leadsTo(app: App, domain: unknown, fn: Resource): boolean {
  const routes = keyedRoutes(app, fn);
  return app.targetsIn(domain).some((each) => {
    const { TargetFunctionArn } = app.propertiesOf(each);
    if (each.cfnResourceType === "AWS::Lambda::Url") return app.targetsIn(TargetFunctionArn).includes(fn);
    if (each.cfnResourceType === "AWS::ElasticLoadBalancingV2::LoadBalancer") return balances(app, each, fn);
    return routes.some(({ api }) => api === each);
  });
}

function balances(app: App, balancer: Resource, fn: Resource): boolean {
  const all = (name: string) =>
    app.ofType(`AWS::ElasticLoadBalancingV2::${name}`).map((each) => ({ each, ...app.propertiesOf(each) }));
  const groups = all("TargetGroup")
    .filter((group) => app.targetsIn(valueIn(group, "Targets")).includes(fn))
    .map(({ each }) => each);
  const isAmong = (actions: unknown) => app.targetsIn(actions).some((each) => groups.includes(each));
  return all("Listener")
    .filter((listener) => app.targetsIn(valueIn(listener, "LoadBalancerArn")).includes(balancer))
    .some(
      (listener) =>
        isAmong(valueIn(listener, "DefaultActions")) ||
        all("ListenerRule").some(
          (rule) =>
            app.targetsIn(valueIn(rule, "ListenerArn")).includes(listener.each) &&
            isAmong(valueIn(rule, "Actions")),
        ),
    );
}

/** CloudFront only allows GET and HEAD by default. */
const takesPosts = ({ AllowedMethods }: TemplateProperties) =>
  AllowedMethods !== undefined && (!Array.isArray(AllowedMethods) || isPosting(AllowedMethods));

const isPosting = (methods: unknown) =>
  Array.isArray(methods) && methods.some((method) => /^(POST|PATCH)$/.test(`${method}`));

/** `undefined` if the app doesn't define the policy. */
function forwardsKey(app: App, behavior: TemplateProperties): boolean | undefined {
  const { OriginRequestPolicyId: request, CachePolicyId: cache, ForwardedValues } = behavior;
  const headers = valueIn(objectIn(ForwardedValues), "Headers");
  const found = [
    requestPolicy(app, request),
    cachePolicy(app, cache),
    headers === "*" || (Array.isArray(headers) && headers.includes("*")) || mayHoldKey(headers),
  ];
  return found.includes(true) ? true : found.includes(undefined) ? undefined : false;
}

function requestPolicy(app: App, id: unknown): boolean | undefined {
  if (id === undefined) return false;
  const made = app.targetIn(id, "AWS::CloudFront::OriginRequestPolicy");
  if (!made) return MANAGED_REQUEST_POLICIES[`${id}`];
  const config = objectIn(valueIn(app.propertiesOf(made), "OriginRequestPolicyConfig", "HeadersConfig"));
  const { HeaderBehavior, Headers } = config;
  if (/^allViewer/.test(`${HeaderBehavior}`)) return true;
  const isListed = mayHoldKey(Headers);
  return HeaderBehavior === "allExcept" ? !isListed : HeaderBehavior === "whitelist" && isListed;
}

/** CloudFront also forwards the headers in the cache key. */
function cachePolicy(app: App, id: unknown): boolean | undefined {
  if (id === undefined || MANAGED_CACHE_POLICIES.includes(`${id}`)) return false;
  const made = app.targetIn(id, "AWS::CloudFront::CachePolicy");
  if (!made) return undefined;
  const parameters = objectIn(
    valueIn(app.propertiesOf(made), "CachePolicyConfig", "ParametersInCacheKeyAndForwardedToOrigin"),
  );
  const { HeaderBehavior, Headers } = objectIn(parameters.HeadersConfig);
  return HeaderBehavior === "whitelist" && mayHoldKey(Headers);
}

/** CloudFront responds to a preflight instead of its origin if such a policy has CORS settings that override the origin's. */
function findCorsPolicy(app: App, fn: Resource, { path, behavior }: Behavior, report: Report): void {
  const policy = app.targetIn(behavior.ResponseHeadersPolicyId, "AWS::CloudFront::ResponseHeadersPolicy");
  const cors = policy && valueIn(app.propertiesOf(policy), "ResponseHeadersPolicyConfig", "CorsConfig");
  if (cors === undefined || `${valueIn(objectIn(cors), "OriginOverride")}` !== "true") return;
  const itemsOf = (name: string) => listIn(valueIn(objectIn(cors), name, "Items"));
  const headers = itemsOf("AccessControlAllowHeaders") ?? [];
  const isWildcard = `${valueIn(objectIn(cors), "AccessControlAllowCredentials")}` !== "true";
  const methods = itemsOf("AccessControlAllowMethods");
  if (allowsKey({ headers, methods, isWildcard })) return;
  report(
    "warned",
    "cors-headers",
    fn,
    `${path} answers CORS preflight requests with a response headers policy that allows ${headers.join(", ")}, but not ${KEY_HEADER}: browsers won't send calls with a key to ${ownerPath(fn)}. Add "${KEY_HEADER}" to its allowed headers, or acknowledge this if the key isn't in that header`,
  );
}

const partsIn = (value: unknown) => (Array.isArray(value) ? (value as TemplateProperties[]) : []);
