// Proves that the options of a function agree with its callers, its queues and its own timeout.
import { Annotations, CfnResource, type Duration } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { MAX_LONG_RETENTION_SECONDS, MAX_RETENTION_SECONDS } from "../../contract.ts";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { note } from "../note.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { USE_DEFAULTS, type UseIdempotencyOptions } from "../use-idempotency-options.ts";
import { withDefaults } from "../with-defaults.ts";
import { warnOfDeliveries } from "./deliveries.ts";
import { QUEUE, type Reader, readersInto, TABLES } from "./event-sources.ts";
import { plainFifoFaults } from "./fifo-queues.ts";
import { gatewayLimits } from "./gateways.ts";
import { warnOfNoWay } from "./networks.ts";
import { settingsOf } from "./queue-settings.ts";
import { type KnownRedelivery, type Redelivery, redeliveriesTo } from "./redelivery.ts";
import { tableIdentity } from "./relays.ts";
import { ownerPath, walkOnce } from "./resources.ts";
import { warnOfTableUse } from "./table-use.ts";
import { asynchronousConfigs, PRESUMED } from "./windows/asynchronous.ts";
import { numberIn } from "./windows/hop.ts";
import { ResolvedApp } from "./windows/resolved-app.ts";

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html */
const LAMBDA_DEFAULT_TIMEOUT_SECONDS = 3;

/** As `engines` of package.json says. */
const OLDEST_NODE = 20;

const checked = sharedRegistry<true>("checked");

/** Has a function's numbers checked at synthesis. */
export function checkConsumer(
  fn: LambdaFunction,
  table: IIdempotencyTable,
  options: UseIdempotencyOptions,
): void {
  checked.set(fn, true);
  walkOnce(fn);
  fn.node.addValidation({ validate: () => consumerFaults(fn, table, options) });
}

export function isChecked(fn: IConstruct): boolean {
  return checked.has(fn);
}

const runners = sharedRegistry<Map<unknown, Map<string, IConstruct>>>("runners");

/** Under one key only one of two functions with the same operation runs. A warning, since both may be of one service. */
export function warnOfSharedOperations(
  fn: IConstruct,
  table: IIdempotencyTable,
  operations: readonly string[] = [],
): void {
  const ofApp = runners.get(fn.node.root) ?? new Map<unknown, Map<string, IConstruct>>();
  runners.set(fn.node.root, ofApp);
  // A table may be imported several times.
  const identity = tableIdentity(table.table);
  const known = ofApp.get(identity) ?? new Map<string, IConstruct>();
  ofApp.set(identity, known);
  for (const operation of operations) {
    const other = known.get(operation);
    if (other === undefined) known.set(operation, fn);
    else {
      Annotations.of(fn).addWarningV2(
        "onceonly:shared-operation",
        `${other.node.path} and ${fn.node.path} both run the operation "${operation}" on ${table.node.path}, so that of one key only the first runs, and the other answers with its result: give each function an operation of its own`,
      );
    }
  }
}

/** Seconds, or `undefined` where they are known at deployment only. */
export function knownSeconds(duration: Duration): number | undefined {
  return duration.isUnresolved() ? undefined : duration.toSeconds();
}

/** As the construct was given it; the template may say something else in the end. */
export function timeoutOf({ timeout }: LambdaFunction): number | undefined {
  return timeout === undefined ? LAMBDA_DEFAULT_TIMEOUT_SECONDS : knownSeconds(timeout);
}

function timeoutIn(app: ResolvedApp, fn: IConstruct): number | undefined {
  const timeout = numberIn(app.propertiesAt(fn).Timeout) ?? LAMBDA_DEFAULT_TIMEOUT_SECONDS;
  return Number.isNaN(timeout) ? undefined : timeout;
}

/** Redeliveries by clients and by all event sources. */
function allRedeliveries(fn: LambdaFunction, options: UseIdempotencyOptions): Redelivery[] {
  const seconds = knownSeconds(withDefaults(options, USE_DEFAULTS).clientWindow);
  if (seconds === undefined) return [{ unknown: "clientWindow is known at deployment only" }];
  return redeliveriesTo(fn, seconds);
}

/** The longest of them, unless a number is unknown. */
export function longestRedelivery(fn: LambdaFunction, options: UseIdempotencyOptions): Redelivery {
  return allRedeliveries(fn, options).reduce((one, other) => {
    if ("unknown" in one || "unknown" in other) return "unknown" in one ? one : other;
    return other.seconds > one.seconds ? other : one;
  });
}

/** Each fault names its numbers, and is said once: an API has a method for each of its routes. */
function consumerFaults(
  fn: LambdaFunction,
  table: IIdempotencyTable,
  options: UseIdempotencyOptions,
): string[] {
  const { outlivesGateway } = withDefaults(options, USE_DEFAULTS);
  const app = ResolvedApp.of(fn);
  const timeout = timeoutIn(app, fn);
  noteManagedInstances(app, fn);
  warnOfDurable(app, fn);
  warnOfRuntime(app, fn);
  warnOfNoWay(fn);
  warnOfDeliveries(fn, timeout);
  warnOfTableUse(app, fn, table);
  const faults = [
    ...runtimeFaults(fn.node.path, app.propertiesAt(fn).Runtime),
    ...retentionFaults(fn, options),
    ...retentionBoundFaults(fn, options),
    ...readersInto(fn, app).flatMap((reader) => readerFaults(app, fn, reader, timeout)),
    ...plainFifoFaults(app, queuesAround(app, fn)),
    ...(outlivesGateway ? [] : gatewayFaults(fn, timeout)),
  ];
  return [...new Set(faults)];
}

/** Images and custom runtimes are accepted: their contents can't be read at synthesis. */
export function runtimeFaults(path: string, runtime: unknown): string[] {
  if (typeof runtime !== "string" || runtime.startsWith("provided")) return [];
  if (Number(/^nodejs(\d+)/.exec(runtime)?.[1]) >= OLDEST_NODE) return [];
  return [
    `${path} runs on ${runtime}: onceonly needs Node.js ${OLDEST_NODE} or newer. Use Runtime.NODEJS_24_X or NODEJS_22_X`,
  ];
}

function retentionFaults(fn: LambdaFunction, options: UseIdempotencyOptions): string[] {
  const { path } = fn.node;
  const retention = knownSeconds(withDefaults(options, USE_DEFAULTS).retention);
  return allRedeliveries(fn, options).flatMap((redelivery) => {
    if (retention === undefined || "unknown" in redelivery) {
      const why = "unknown" in redelivery ? redelivery.unknown : "it is known at deployment only";
      note(
        fn,
        "onceonly:retention-unknown",
        `whether the retention of ${path} is long enough is not checked: ${why}`,
      );
      return [];
    }
    if (retention >= redelivery.seconds) return [];
    const inequality = `retention ${retention} s < ${redelivery.seconds} s, the longest redelivery to ${path} (${redelivery.sum}): what comes after the retention runs again`;
    if (redelivery.limit === undefined || retention < redelivery.setSeconds) {
      return `${inequality}. Give UseIdempotency a retention of two to three times that, and the handler the same retentionSeconds`;
    }
    warnOfLimit(fn, redelivery.limit, inequality, redelivery);
    return [];
  });
}

/** A warning, since the template sets no such number, and AWS takes its time up in the worst case only. */
function warnOfLimit(
  fn: LambdaFunction,
  limit: string,
  inequality: string,
  { seconds }: KnownRedelivery,
): void {
  const days = Math.ceil(seconds / 86_400);
  const cover =
    seconds > MAX_RETENTION_SECONDS ? `Duration.days(${days}) with longRetention` : `Duration.days(${days})`;
  if (limit === PRESUMED) {
    Annotations.of(fn).addWarningV2(
      "onceonly:no-asynchronous-source",
      `${inequality}. Nothing in this app invokes ${fn.node.path} asynchronously, but it has a dead-letter queue or other settings for such invocations. If there are none, acknowledge this. A retention of ${cover} covers them, here and as retentionSeconds of the handler`,
    );
    return;
  }
  Annotations.of(fn).addWarningV2(
    `onceonly:${limit}-window`,
    `${inequality}. A part of that is a maximum of AWS. A retention of ${cover} covers it, here and as retentionSeconds of the handler`,
  );
}

/** The handler would refuse such a number when it starts. */
function retentionBoundFaults(fn: LambdaFunction, options: UseIdempotencyOptions): string[] {
  const { retention, longRetention } = withDefaults(options, USE_DEFAULTS);
  const seconds = knownSeconds(retention);
  const most = longRetention ? MAX_LONG_RETENTION_SECONDS : MAX_RETENTION_SECONDS;
  if (seconds === undefined) return [];
  const given = `retention ${seconds} s of ${fn.node.path}`;
  if (seconds < 1)
    return [`${given} < 1 s, which the handler refuses as its retentionSeconds: make it longer`];
  if (seconds <= most) return [];
  const bound = `${given} > ${most} s`;
  if (longRetention) return [`${bound} (ten years), which no handler takes: shorten it`];
  return [
    `${bound} (366 days), which the handler refuses as its retentionSeconds: shorten it, or set longRetention of UseIdempotency and of the handler`,
  ];
}

/** What a function reads, and where goes what it gives up. */
function queuesAround(app: ResolvedApp, fn: LambdaFunction): CfnResource[] {
  const { defaultChild } = fn.node;
  const readers = readersInto(fn, app);
  const configs = CfnResource.isCfnResource(defaultChild) ? asynchronousConfigs(app, defaultChild) : [];
  const parked = [
    app.propertiesAt(fn).DeadLetterConfig,
    ...[...configs, ...readers.map(({ settings }) => settings)].map(
      ({ DestinationConfig }) => DestinationConfig,
    ),
  ];
  const read = readers.flatMap(({ source }) => source ?? []);
  return [...new Set([...read, ...parked.flatMap((each) => app.targetsIn(each))])];
}

function readerFaults(
  app: ResolvedApp,
  fn: LambdaFunction,
  { source, isPipe, forgotten }: Reader,
  timeout: number | undefined,
): string[] {
  if (source === undefined) return [];
  const path = ownerPath(source);
  if (TABLES.includes(source.cfnResourceType)) {
    if (app.propertiesOf(source).StreamSpecification !== undefined) return [];
    return [`${fn.node.path} reads the stream of ${path}, which has 0 streams: switch one on`];
  }
  if (source.cfnResourceType !== QUEUE) return [];
  // A pipe that does not wait has its messages deleted at once.
  const isWaiting = !isPipe || !forgotten.some((each) => each === fn.node.defaultChild);
  return [...(isWaiting ? hidingFaults(app, fn, source, timeout) : []), ...fifoSettingFaults(app, source)];
}

function hidingFaults(
  app: ResolvedApp,
  fn: LambdaFunction,
  queue: CfnResource,
  timeout: number | undefined,
): string[] {
  const path = ownerPath(queue);
  const { hidden } = settingsOf(app, queue);
  if (timeout === undefined || Number.isNaN(hidden)) {
    note(
      fn,
      "onceonly:visibility-unknown",
      `whether ${path} hides messages for as long as ${fn.node.path} runs is not checked: its timeout, or theirs, is known at deployment only`,
    );
    return [];
  }
  if (hidden >= timeout) return [];
  return [
    `visibility timeout ${hidden} s of ${path} < timeout ${timeout} s of ${fn.node.path}: messages come again while they are handled. Make it six times as long: ${6 * timeout} s`,
  ];
}

function fifoSettingFaults(app: ResolvedApp, queue: CfnResource): string[] {
  const { FifoThroughputLimit, DeduplicationScope = "queue" } = app.propertiesOf(queue);
  if (FifoThroughputLimit !== "perMessageGroupId" || DeduplicationScope === "messageGroup") return [];
  return [
    `fifoThroughputLimit of ${ownerPath(queue)} is perMessageGroupId and its deduplicationScope is ${String(DeduplicationScope)}: SQS takes it with messageGroup only`,
  ];
}

function gatewayFaults(fn: LambdaFunction, timeout: number | undefined): string[] {
  return gatewayLimits(fn).flatMap(({ waits, seconds }) => {
    if (timeout === undefined || Number.isNaN(seconds)) {
      const what = `whether ${waits.replace("its", "the")} before ${fn.node.path} waits for as long as it runs`;
      note(
        fn,
        "onceonly:gateway-unknown",
        `${what} is not checked: one of the two is known at deployment only, or is not made in this app`,
      );
      return [];
    }
    if (timeout <= seconds) return [];
    return `timeout ${timeout} s of ${fn.node.path} > ${seconds} s, for which ${waits} waits: the caller gets an error while the function goes on. Shorten the timeout, or set outlivesGateway of UseIdempotency if a retry is to fetch the result`;
  });
}

/** Its capacity provider may be given after the mixin. */
function noteManagedInstances(app: ResolvedApp, fn: LambdaFunction): void {
  if (app.propertiesAt(fn).CapacityProviderConfig === undefined) return;
  note(
    fn,
    "onceonly:managed-instances",
    `${fn.node.path} runs on Lambda Managed Instances, which let code run on after its timeout. Its handlers find that in AWS_LAMBDA_INITIALIZATION_TYPE, so that UseIdempotency sets nothing for it: leases are 30 s long (\`leaseSeconds\`) and renewed, one write for each 10 s of a call`,
  );
}

/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html#runtime-support-policy */
function warnOfRuntime(app: ResolvedApp, fn: LambdaFunction): void {
  if (app.propertiesAt(fn).Runtime !== "nodejs20.x") return;
  Annotations.of(fn).addWarningV2(
    "onceonly:deprecated-runtime",
    `${fn.node.path} runs on nodejs20.x, which Lambda deprecated on 2026-04-30: it can't be created from 2027-02-01, and releases of the AWS SDK from January 2027 need Node.js 22. Use Runtime.NODEJS_24_X or NODEJS_22_X`,
  );
}

/** Each replay of a durable execution calls the handler from its beginning. */
function warnOfDurable(app: ResolvedApp, fn: LambdaFunction): void {
  if (app.propertiesAt(fn).DurableConfig === undefined) return;
  Annotations.of(fn).addWarningV2(
    "onceonly:durable-function",
    `${fn.node.path} is a durable function: Lambda calls its handler from the beginning after each wait, so that a wrapped handler meets its own claim, and a wait outlives the lease. Wrap what a step does, with a key of the execution's name, and acknowledge this`,
  );
}
