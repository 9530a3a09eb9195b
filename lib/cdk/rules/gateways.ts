// Whether the API or the load balancer in front of a function waits as long as the function may run.
import { type App, objectIn, type Resource, type TemplateProperties, valueIn } from "./app.ts";
import { subscribersIn } from "./windows/event-bridge.ts";
import { numberIn } from "./windows/hop.ts";
import { answeredTasks } from "./windows/step-functions.ts";

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html */
const HTTP_API_MS = 30_000;

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const REST_API_MS = 29_000;

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html */
const WEBSOCKET_MS = 29_000;

/** If the caller doesn't wait, the function can have any timeout. */
const ANSWERS_AT_ONCE = Number.POSITIVE_INFINITY;

/** https://docs.aws.amazon.com/general/latest/gr/appsync.html */
const GRAPHQL_MS = 30_000;

/** https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-working-with-lambda-triggers.html */
const USER_POOL_SECONDS = 5;

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-load-balancer-attributes.html */
const LOAD_BALANCER_SECONDS = 60;

/** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/DownloadDistValuesOrigin.html */
const ORIGIN_SECONDS = 30;

export interface GatewayLimit {
  readonly waits:
    | "its API"
    | "its distribution"
    | "its load balancer"
    | "its subscriber"
    | "its task"
    | "its user pool";
  /** `NaN` for a time that isn't known at synthesis. */
  readonly seconds: number;
}

/** How long each API and load balancer in front of a function waits. */
export const gatewayLimits = (app: App, fn: Resource): GatewayLimit[] =>
  gatewaysBefore(app, (part) => app.targetsIn(part).includes(fn));

export function gatewaysBefore(app: App, isTarget: IsTarget): GatewayLimit[] {
  const found = [
    ...integrations(app, isTarget),
    ...methods(app, isTarget),
    ...bodies(app, isTarget),
    ...graphs(app, isTarget),
    ...loadBalancers(app, isTarget),
    ...userPools(app, isTarget),
    ...distributions(app, isTarget),
    ...tasks(app, isTarget),
    ...subscribers(app, isTarget),
  ];
  return found.length === 0 && isOpenToApis(app, isTarget) ? [api(Number.NaN)] : found;
}

type IsTarget = (part: unknown) => boolean;

const api = (ms: number): GatewayLimit => ({ waits: "its API", seconds: ms / 1000 });

function integrations(app: App, isTarget: IsTarget): GatewayLimit[] {
  return app.ofType("AWS::ApiGatewayV2::Integration").flatMap((integration) => {
    const { IntegrationUri, ApiId, TimeoutInMillis } = app.propertiesOf(integration);
    if (!isTarget(IntegrationUri)) return [];
    const owner = app.targetIn(ApiId, "AWS::ApiGatewayV2::Api");
    const isWebSocket = owner && valueIn(app.propertiesOf(owner), "ProtocolType") === "WEBSOCKET";
    return api(numberIn(TimeoutInMillis) ?? (isWebSocket ? WEBSOCKET_MS : HTTP_API_MS));
  });
}

function methods(app: App, isTarget: IsTarget): GatewayLimit[] {
  return app.ofType("AWS::ApiGateway::Method").flatMap((method) => {
    const integration = objectIn(valueIn(app.propertiesOf(method), "Integration"));
    const { Uri, TimeoutInMillis } = integration;
    if (!isTarget(Uri)) return [];
    return api(isForgotten(integration) ? ANSWERS_AT_ONCE : (numberIn(TimeoutInMillis) ?? REST_API_MS));
  });
}

/** Whether a REST API makes Lambda queue the invocation, so it responds immediately. */
export function isForgotten({ RequestParameters, requestParameters }: TemplateProperties): boolean {
  const parameters = objectIn(RequestParameters ?? requestParameters);
  return /Event/.test(String(parameters["integration.request.header.X-Amz-Invocation-Type"]));
}

/** CloudFront in front of a function URL. */
function distributions(app: App, isTarget: IsTarget): GatewayLimit[] {
  const isOrigin = (domain: unknown) =>
    app.targetsIn(domain).some((each) => {
      const isUrl = each.cfnResourceType === "AWS::Lambda::Url";
      return isUrl && isTarget(app.propertiesOf(each).TargetFunctionArn);
    });
  return app.ofType("AWS::CloudFront::Distribution").flatMap((each) => {
    const origins = valueIn(app.propertiesOf(each), "DistributionConfig", "Origins");
    return (Array.isArray(origins) ? (origins as TemplateProperties[]) : [])
      .filter(({ DomainName }) => isOrigin(DomainName))
      .map(({ CustomOriginConfig }): GatewayLimit => {
        const timeout = numberIn(valueIn(objectIn(CustomOriginConfig), "OriginReadTimeout"));
        return { waits: "its distribution", seconds: timeout ?? ORIGIN_SECONDS };
      });
  });
}

/** A Step Functions task with its own timeout. */
function tasks(app: App, isTarget: IsTarget): GatewayLimit[] {
  return answeredTasks(app)
    .filter(({ task }) => numberIn(task.TimeoutSeconds) !== undefined && isTarget(task))
    .map(({ task }) => ({ waits: "its task", seconds: numberIn(task.TimeoutSeconds) ?? Number.NaN }));
}

/** A subscriber of an EventBridge custom event bus counts a call that isn't answered in time as failed, and repeats it. */
function subscribers(app: App, isTarget: IsTarget): GatewayLimit[] {
  return subscribersIn(app)
    .filter(
      ({ subscriber, isAsynchronous }) =>
        !isAsynchronous && isTarget(app.propertiesOf(subscriber).InvokeConfiguration),
    )
    .map(({ waitSeconds }) => ({ waits: "its subscriber", seconds: waitSeconds }));
}

function graphs(app: App, isTarget: IsTarget): GatewayLimit[] {
  return app
    .ofType("AWS::AppSync::DataSource")
    .filter((each) => isTarget(valueIn(app.propertiesOf(each), "LambdaConfig", "LambdaFunctionArn")))
    .map(() => api(GRAPHQL_MS));
}

/** Cognito retries a trigger that runs longer, twice. It invokes custom senders asynchronously, so it doesn't wait for them. */
function userPools(app: App, isTarget: IsTarget): GatewayLimit[] {
  return app
    .ofType("AWS::Cognito::UserPool")
    .filter((each) => {
      const { CustomEmailSender, CustomSMSSender, ...waiting } = objectIn(
        app.propertiesOf(each).LambdaConfig,
      );
      return isTarget(waiting);
    })
    .map(() => ({ waits: "its user pool", seconds: USER_POOL_SECONDS }));
}

/** APIs that an OpenAPI document describes, and quick-create HTTP APIs. */
function bodies(app: App, isTarget: IsTarget): GatewayLimit[] {
  const described = [
    { type: "AWS::ApiGateway::RestApi", most: REST_API_MS },
    { type: "AWS::ApiGatewayV2::Api", most: HTTP_API_MS },
  ].flatMap(({ type, most }) =>
    app.ofType(type).flatMap((each) => {
      const uses = integrationsIn(valueIn(app.propertiesOf(each), "Body"));
      return uses
        .filter(({ uri }) => isTarget(uri))
        .map((use) => api(isForgotten(use) ? ANSWERS_AT_ONCE : (numberIn(use.timeoutInMillis) ?? most)));
    }),
  );
  const quick = app
    .ofType("AWS::ApiGatewayV2::Api")
    .filter((each) => isTarget(valueIn(app.propertiesOf(each), "Target")));
  return [...described, ...quick.map(() => api(HTTP_API_MS))];
}

const known = new WeakMap<object, TemplateProperties[]>();

/** Each object with a URI, anywhere in the document. A document is read once for all functions. */
export function integrationsIn(document: unknown): TemplateProperties[] {
  if (typeof document !== "object" || document === null) return [];
  const found = known.get(document) ?? integrationsBelow(document);
  known.set(document, found);
  return found;
}

function integrationsBelow(document: object): TemplateProperties[] {
  const own = "uri" in document ? [objectIn(document)] : [];
  return [...own, ...Object.values(document).flatMap(integrationsIn)];
}

function loadBalancers(app: App, isTarget: IsTarget): GatewayLimit[] {
  const groups = app
    .ofType("AWS::ElasticLoadBalancingV2::TargetGroup")
    .filter((each) => isTarget(valueIn(app.propertiesOf(each), "Targets")));
  const leadsTo = (part: unknown) => app.targetsIn(part).some((each) => groups.includes(each));
  const listeners = app
    .ofType("AWS::ElasticLoadBalancingV2::Listener")
    .filter((each) => leadsTo(valueIn(app.propertiesOf(each), "DefaultActions")));
  const byRules = app
    .ofType("AWS::ElasticLoadBalancingV2::ListenerRule")
    .map((each) => app.propertiesOf(each))
    .filter(({ Actions }) => leadsTo(Actions))
    .map(({ ListenerArn }) => app.targetIn(ListenerArn, "AWS::ElasticLoadBalancingV2::Listener"));
  return [...new Set([...listeners, ...byRules])].map((listener) => ({
    waits: "its load balancer",
    seconds: idleSeconds(app, listener),
  }));
}

function idleSeconds(app: App, listener: Resource | undefined): number {
  const arn = listener && valueIn(app.propertiesOf(listener), "LoadBalancerArn");
  const balancer = app.targetIn(arn, "AWS::ElasticLoadBalancingV2::LoadBalancer");
  if (!balancer) return Number.NaN;
  const attributes = valueIn(app.propertiesOf(balancer), "LoadBalancerAttributes");
  const all = Array.isArray(attributes) ? (attributes as TemplateProperties[]) : [];
  const set = all.find(({ Key }) => Key === "idle_timeout.timeout_seconds");
  return numberIn(set && valueIn(set, "Value")) ?? LOAD_BALANCER_SECONDS;
}

/** Whether an API of another app, or one from a document in a file, may invoke the function. */
function isOpenToApis(app: App, isTarget: IsTarget): boolean {
  return app
    .ofType("AWS::Lambda::Permission")
    .map((each) => app.propertiesOf(each))
    .some(
      ({ Principal, FunctionName }) => Principal === "apigateway.amazonaws.com" && isTarget(FunctionName),
    );
}
