// All paths on which an event can be redelivered to a function, from one source to the next.
import { type App, FUNCTION, objectIn, ownerPath, type Resource } from "../app.ts";
import { gatewaysBefore, integrationsIn, isForgotten } from "../gateways.ts";
import { asynchronousHops, asynchronousWindow, presumedWindow } from "./asynchronous.ts";
import { archiveHops, customBusHops, ruleHops, subscriberHops } from "./event-bridge.ts";
import { type Hop, type RedeliveryWindow, sumOf } from "./hop.ts";
import { outboxHops } from "./outboxes.ts";
import { readerHops } from "./readers.ts";
import { notificationHops } from "./s3.ts";
import { scheduleHops } from "./scheduler.ts";
import { subscriptionHops } from "./sns.ts";
import { taskHops } from "./step-functions.ts";

const READERS: readonly ((app: App) => Hop[])[] = [
  readerHops,
  ruleHops,
  archiveHops,
  subscriberHops,
  customBusHops,
  scheduleHops,
  subscriptionHops,
  notificationHops,
  taskHops,
  asynchronousHops,
  outboxHops,
  queuingHops,
  senderHops,
  invokerHops,
];

/** Services whose sources are read above. */
const READ = /^(events|sns|s3)\.amazonaws\.com$/;

/** Services that wait for the response, and don't retry by themselves, or not for long. */
const WAITING = /^(apigateway|cognito-idp|edgelambda|elasticloadbalancing)\.amazonaws\.com$/;

/** Services that may invoke a function from a source outside this app, or that don't document how long they retry. */
function foreignHops(app: App, hops: ReadonlyMap<object, Hop[]>): Hop[] {
  return app.ofType("AWS::Lambda::Permission").flatMap((permission) => {
    const { Principal, FunctionName } = app.propertiesOf(permission);
    const service = String(Principal);
    if (!/\.amazonaws\.com$/.test(service) || WAITING.test(service)) return [];
    const why = READ.test(service)
      ? "its source isn't defined in this app"
      : "it isn't known how long it retries";
    return app
      .namedIn(FunctionName, "lambda", permission)
      .filter((into) => !READ.test(service) || !hops.get(into)?.some(isSurelyAsynchronous))
      .map((into): Hop => ({ into, window: { unknown: `${service} may invoke it, and ${why}` } }));
  });
}

/** Resources that invoke functions with a role, or before their permission is created. */
const INVOKERS = [
  "AWS::Bedrock::Agent",
  "AWS::Bedrock::Flow",
  "AWS::BedrockAgentCore::Evaluator",
  "AWS::BedrockAgentCore::GatewayTarget",
  "AWS::CodePipeline::Pipeline",
  "AWS::IoT::TopicRule",
  "AWS::KinesisFirehose::DeliveryStream",
  "AWS::S3ObjectLambda::AccessPoint",
  "AWS::SecretsManager::RotationSchedule",
  "AWS::SSM::MaintenanceWindowTask",
  "AWS::VpcLattice::TargetGroup",
];

function invokerHops(app: App): Hop[] {
  return INVOKERS.flatMap((type) => app.ofType(type)).flatMap((invoker) => {
    const unknown = `${ownerPath(invoker)} invokes it, and it isn't known how long it retries`;
    return invokedIn(app, invoker).map((into): Hop => ({ into, window: { unknown } }));
  });
}

/** The functions that the invoker's configuration names. */
function invokedIn(app: App, invoker: Resource): readonly Resource[] {
  return app.targetsIn(app.propertiesOf(invoker)).filter(isFunction);
}

/** REST APIs that make Lambda queue the invocation. */
function queuingHops(app: App): Hop[] {
  const methods = app.ofType("AWS::ApiGateway::Method").map((each) => app.propertiesOf(each).Integration);
  const described = app
    .ofType("AWS::ApiGateway::RestApi")
    .flatMap((each) => integrationsIn(app.propertiesOf(each).Body));
  return [...methods, ...described]
    .map(objectIn)
    .filter(isForgotten)
    .flatMap(({ Uri, uri }) => app.targetsIn(Uri ?? uri))
    .map((into) => ({ into, window: [], isAsynchronous: true }));
}

/**
 * Cognito invokes custom senders asynchronously, unlike its other triggers.
 * https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-working-with-lambda-triggers.html
 */
function senderHops(app: App): Hop[] {
  return app
    .ofType("AWS::Cognito::UserPool")
    .map((pool) => objectIn(app.propertiesOf(pool).LambdaConfig))
    .flatMap(({ CustomEmailSender, CustomSMSSender }) => app.targetsIn([CustomEmailSender, CustomSMSSender]))
    .map((into) => ({ into, window: [], isAsynchronous: true }));
}

const known = new WeakMap<App, Map<object, Hop[]>>();

/** The windows of all event sources of a function, each including the windows of the sources before it. */
export function waysTo(app: App, fn: Resource): RedeliveryWindow[] {
  return waysInto(fn, hopsOf(app), app, new Set());
}

export function isInvokedAsynchronously(app: App, fn: Resource): boolean {
  const hops = hopsOf(app).get(fn) ?? [];
  return hops.some(isSurelyAsynchronous);
}

const isSurelyAsynchronous = ({ isAsynchronous, isPresumed }: Hop) => isAsynchronous && !isPresumed;

function hopsOf(app: App): Map<object, Hop[]> {
  const hops = known.get(app) ?? hopsByTarget(app);
  known.set(app, hops);
  return hops;
}

function hopsByTarget(app: App): Map<object, Hop[]> {
  const hops = new Map<object, Hop[]>();
  for (const hop of READERS.flatMap((read) => read(app))) {
    hops.set(hop.into, [...(hops.get(hop.into) ?? []), hop]);
  }
  for (const hop of foreignHops(app, hops)) hops.set(hop.into, [...(hops.get(hop.into) ?? []), hop]);
  for (const [into, all] of hops) {
    if (isFunction(into) && isOnlyAnswered(app, into, all)) continue;
    hops.set(
      into,
      all.map((hop) => ({ ...hop, isPresumed: false })),
    );
  }
  return hops;
}

/** Whether at least one source of the app invokes the function, and all of them wait for its response. */
function isOnlyAnswered(app: App, fn: Resource, hops: readonly Hop[]): boolean {
  const others = hops.filter(({ isPresumed }) => !isPresumed);
  if (others.length === hops.length || others.some(({ isAsynchronous }) => isAsynchronous !== false))
    return false;
  return others.length > 0 || isAnswered(app, fn);
}

/** Whether an API, a function URL, a load balancer or a user pool invokes a function. */
function isAnswered(app: App, fn: Resource): boolean {
  const isTarget = (part: unknown) => app.targetsIn(part).includes(fn);
  const hasUrl = app
    .ofType("AWS::Lambda::Url")
    .some((each) => isTarget(app.propertiesOf(each).TargetFunctionArn));
  return hasUrl || gatewaysBefore(app, isTarget).length > 0;
}

/** A cycle of sources is followed only once. */
function waysInto(
  target: object,
  hops: ReadonlyMap<object, Hop[]>,
  app: App,
  before: ReadonlySet<object>,
): RedeliveryWindow[] {
  const passed = new Set([...before, target]);
  return (hops.get(target) ?? []).flatMap(({ from, window, isAsynchronous = false, isPresumed }) => {
    const queued = isPresumed ? presumedWindow : asynchronousWindow;
    const own = isAsynchronous && isFunction(target) ? sumOf(window, queued(app, target)) : window;
    const earlier = from && !passed.has(from) ? waysInto(from, hops, app, passed) : [];
    return earlier.length === 0 ? [own] : earlier.map((way) => sumOf(way, own));
  });
}

function isFunction(target: object): target is Resource {
  return (target as Partial<Resource>).cfnResourceType === FUNCTION;
}
