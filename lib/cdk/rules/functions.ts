// Rules for functions that run operations: their settings must fit their callers, their queues and their own timeout.
import { MAX_LONG_RETENTION_SECONDS, MAX_RETENTION_SECONDS } from "../../contract.ts";
import { type App, objectIn, ownerPath, QUEUE, type Report, type Resource, TABLES } from "./app.ts";
import { findCallers } from "./callers.ts";
import { findDeliveries } from "./deliveries.ts";
import { durableConfigOf, findDurable, MESSAGE_RETENTION_SECONDS } from "./durable.ts";
import { type Reader, readersInto } from "./event-sources.ts";
import { gatewayLimits } from "./gateways.ts";
import { findNoWay } from "./networks.ts";
import { settingsOf } from "./queue-settings.ts";
import { type KnownRedelivery, type Redelivery, redeliveriesTo } from "./redelivery.ts";
import { findTableUse } from "./table-use.ts";
import { asynchronousConfigs, PRESUMED } from "./windows/asynchronous.ts";
import { numberIn } from "./windows/hop.ts";
import { OUTBOX } from "./windows/outboxes.ts";

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html */
export const LAMBDA_DEFAULT_TIMEOUT_SECONDS = 3;

/** The same as in `engines` of package.json. */
const OLDEST_NODE = 20;

/** A function that runs operations. */
export interface Runner {
  readonly fn: Resource;
  /** In seconds, like `clientWindow`; undefined if it's only known at deployment. */
  readonly retention: number | undefined;
  readonly clientWindow: number | undefined;
  readonly allowLongRetention: boolean;
  readonly outlivesGateway: boolean;
  /** The resource of its table, if the app defines it. */
  readonly table: Resource | undefined;
}

export function findInRunner(app: App, runner: Runner, report: Report): void {
  const { fn, table } = runner;
  const timeout = timeoutIn(app, fn);
  findManagedInstances(app, fn, report);
  findDurable(app, fn, runner.retention, report);
  findDeprecatedRuntime(app, fn, report);
  findHiddenLogs(app, fn, report);
  findCallers(app, fn, report);
  findNoWay(app, fn, report, [
    { service: "dynamodb", actions: ["dynamodb:PutItem", "dynamodb:UpdateItem"], resource: table },
  ]);
  findDeliveries(app, fn, timeout, report);
  if (table) findTableUse(app, fn, table, report);
  findRuntime(app, fn, report);
  findRetention(app, runner, report);
  findRetentionBound(runner, report);
  // A caller that waits for a durable function waits for the whole execution.
  const lasts = durableConfigOf(app, fn)?.executionSeconds ?? timeout;
  for (const reader of readersInto(app, fn)) findReader(app, fn, reader, lasts, report);
  if (!runner.outlivesGateway) findGateways(app, fn, lasts, report);
}

export function timeoutIn(app: App, fn: Resource): number | undefined {
  const timeout = numberIn(app.propertiesOf(fn).Timeout) ?? LAMBDA_DEFAULT_TIMEOUT_SECONDS;
  return Number.isNaN(timeout) ? undefined : timeout;
}

/** How long a handler keeps its records unless its options say otherwise. One that reads a queue or a stream is assumed to be `idempotentBatch`. */
export const defaultRetention = (app: App, fn: Resource): number =>
  readersInto(app, fn).length > 0 ? MESSAGE_RETENTION_SECONDS : 86_400;

const timeoutName = (app: App, fn: Resource) => (durableConfigOf(app, fn) ? "execution timeout" : "timeout");

/** Redeliveries from clients and from all event sources. */
export function redeliveries(app: App, fn: Resource, clientWindow: number | undefined): Redelivery[] {
  if (clientWindow === undefined) return [{ unknown: "clientWindow is only known at deployment" }];
  return redeliveriesTo(app, fn, clientWindow);
}

/** Images and custom runtimes are accepted: their contents can't be read at synthesis. */
export function findRuntime(app: App, fn: Resource, report: Report): void {
  const { Runtime: runtime } = app.propertiesOf(fn);
  if (typeof runtime !== "string" || runtime.startsWith("provided")) return;
  if (Number(/^nodejs(\d+)/.exec(runtime)?.[1]) >= OLDEST_NODE) return;
  report(
    "refused",
    "runtime",
    fn,
    `${ownerPath(fn)} runs on ${runtime}: onceonly needs Node.js ${OLDEST_NODE} or newer. Use Runtime.NODEJS_24_X or NODEJS_22_X`,
  );
}

function findRetention(app: App, { fn, retention, clientWindow }: Runner, report: Report): void {
  const path = ownerPath(fn);
  for (const redelivery of redeliveries(app, fn, clientWindow)) {
    if (retention === undefined || "unknown" in redelivery) {
      const why = "unknown" in redelivery ? redelivery.unknown : "it's only known at deployment";
      report(
        "noted",
        "retention-unknown",
        fn,
        `can't check whether the retention of ${path} is long enough: ${why}`,
      );
      continue;
    }
    if (retention >= redelivery.seconds) continue;
    const inequality = `retention ${retention} s < ${redelivery.seconds} s, the longest redelivery to ${path} (${redelivery.sum}): a delivery after the retention would run again`;
    if (redelivery.limit === undefined || retention < redelivery.setSeconds) {
      report(
        "refused",
        "retention",
        fn,
        `${inequality}. Set the retention of UseIdempotency to two to three times that, and the handler's retentionSeconds to the same value`,
      );
    } else findLimit(fn, redelivery.limit, inequality, redelivery, report);
  }
}

/** Only a warning, because the template doesn't set the number, and AWS uses the full time only in the worst case. */
function findLimit(
  fn: Resource,
  limit: string,
  inequality: string,
  { seconds }: KnownRedelivery,
  report: Report,
): void {
  const days = Math.ceil(seconds / 86_400);
  const cover =
    seconds > MAX_RETENTION_SECONDS
      ? `Duration.days(${days}) with allowLongRetention`
      : `Duration.days(${days})`;
  if (limit === PRESUMED) {
    report(
      "warned",
      "no-asynchronous-source",
      fn,
      `${inequality}. Nothing in this app invokes ${ownerPath(fn)} asynchronously, but it has a dead-letter queue or other settings for asynchronous invocations. If it's never invoked that way, acknowledge this; otherwise a retention of ${cover} covers it, here and as the handler's retentionSeconds`,
    );
    return;
  }
  const part =
    limit === OUTBOX
      ? "An OutboxRelay that can't send a message retries for 3 days, and the consumer rejects messages older than its retention"
      : "Part of that is an AWS maximum";
  report(
    "warned",
    `${limit}-window`,
    fn,
    `${inequality}. ${part}. A retention of ${cover} covers it, here and as the handler's retentionSeconds`,
  );
}

/** The handler would reject such a number when it starts. */
function findRetentionBound({ fn, retention, allowLongRetention }: Runner, report: Report): void {
  if (retention === undefined) return;
  const text = boundFault(retention, allowLongRetention, ownerPath(fn));
  if (text !== undefined) report("refused", "retention-bound", fn, text);
}

function boundFault(seconds: number, allowLongRetention: boolean, path: string): string | undefined {
  const most = allowLongRetention ? MAX_LONG_RETENTION_SECONDS : MAX_RETENTION_SECONDS;
  const given = `retention ${seconds} s of ${path}`;
  if (seconds < 1) return `${given} < 1 s, which the handler rejects as its retentionSeconds: make it longer`;
  if (seconds <= most) return undefined;
  const bound = `${given} > ${most} s`;
  return allowLongRetention
    ? `${bound} (ten years), more than any handler accepts: shorten it`
    : `${bound} (366 days), which the handler rejects as its retentionSeconds: shorten it, or set allowLongRetention on both UseIdempotency and the handler`;
}

/** The queues that a function reads, and those that its failed events go to. */
export function queuesAround(app: App, fn: Resource): Resource[] {
  const readers = readersInto(app, fn);
  const configs = asynchronousConfigs(app, fn);
  const parked = [
    app.propertiesOf(fn).DeadLetterConfig,
    ...[...configs, ...readers.map(({ settings }) => settings)].map(
      ({ DestinationConfig }) => DestinationConfig,
    ),
  ];
  const read = readers.flatMap(({ source }) => source ?? []);
  return [...new Set([...read, ...parked.flatMap((each) => app.targetsIn(each))])];
}

export function findReader(
  app: App,
  fn: Resource,
  { source, isPipe, forgotten }: Reader,
  timeout: number | undefined,
  report: Report,
): void {
  if (source === undefined) return;
  const path = ownerPath(source);
  if (TABLES.includes(source.cfnResourceType)) {
    if (app.propertiesOf(source).StreamSpecification !== undefined) return;
    const text = `${ownerPath(fn)} reads the stream of ${path}, which doesn't have one: enable it`;
    report("refused", "no-stream", fn, text);
  }
  if (source.cfnResourceType !== QUEUE) return;
  // If a pipe doesn't wait for the function, its messages are deleted immediately.
  if (!isPipe || !forgotten.includes(fn)) findHiding(app, fn, source, timeout, report);
  findFifoSettings(app, source, report);
}

function findHiding(
  app: App,
  fn: Resource,
  queue: Resource,
  timeout: number | undefined,
  report: Report,
): void {
  const path = ownerPath(queue);
  const { hidden } = settingsOf(app, queue);
  if (timeout === undefined || Number.isNaN(timeout + hidden)) {
    report(
      "noted",
      "visibility-unknown",
      fn,
      `can't check whether ${path} hides messages for as long as ${ownerPath(fn)} runs: one of the two timeouts is only known at deployment`,
    );
    return;
  }
  if (hidden >= timeout) return;
  report(
    "refused",
    "visibility-timeout",
    queue,
    `visibility timeout ${hidden} s of ${path} < ${timeoutName(app, fn)} ${timeout} s of ${ownerPath(fn)}: messages are delivered again while they're being handled. Make it six times the function's timeout: ${6 * timeout} s`,
  );
}

function findFifoSettings(app: App, queue: Resource, report: Report): void {
  const { FifoThroughputLimit, DeduplicationScope = "queue" } = app.propertiesOf(queue);
  if (FifoThroughputLimit !== "perMessageGroupId" || DeduplicationScope === "messageGroup") return;
  report(
    "refused",
    "fifo-throughput",
    queue,
    `fifoThroughputLimit of ${ownerPath(queue)} is perMessageGroupId, but its deduplicationScope is ${String(DeduplicationScope)}: SQS accepts that limit only with messageGroup`,
  );
}

export function findGateways(app: App, fn: Resource, timeout: number | undefined, report: Report): void {
  for (const { waits, seconds } of gatewayLimits(app, fn)) {
    if (timeout === undefined || Number.isNaN(timeout + seconds)) {
      const what = `can't check whether ${waits.replace("its", "the")} in front of ${ownerPath(fn)} waits as long as it runs`;
      report(
        "noted",
        "gateway-unknown",
        fn,
        `${what}: one of the two timeouts is only known at deployment, or isn't set in this app`,
      );
    } else if (timeout > seconds) {
      report(
        "refused",
        "gateway-timeout",
        fn,
        `${timeoutName(app, fn)} ${timeout} s of ${ownerPath(fn)} > ${seconds} s, how long ${waits} waits: the caller gets an error while the function keeps running. Shorten the timeout, or set outlivesGateway on UseIdempotency if a retry should fetch the result`,
      );
    }
  }
}

/** Read from the template, because the capacity provider may be set after the mixin. */
function findManagedInstances(app: App, fn: Resource, report: Report): void {
  if (app.propertiesOf(fn).CapacityProviderConfig === undefined) return;
  report(
    "noted",
    "managed-instances",
    fn,
    `${ownerPath(fn)} runs on Lambda Managed Instances, where code keeps running after a timeout. The handlers read that from AWS_LAMBDA_INITIALIZATION_TYPE, so UseIdempotency sets nothing for it: leases last 30 s (\`leaseSeconds\`) and are renewed, which costs one write per 10 s of a call`,
  );
}

/**
 * Some mistakes only show in the first call of a process, not in a template. A warning in the log reports them.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 */
function findHiddenLogs(app: App, fn: Resource, report: Report): void {
  const { LogFormat, ApplicationLogLevel } = objectIn(app.propertiesOf(fn).LoggingConfig);
  if (LogFormat !== "JSON" || !/^(ERROR|FATAL)$/.test(`${ApplicationLogLevel}`)) return;
  report(
    "noted",
    "hidden-logs",
    fn,
    `${ownerPath(fn)} only logs ${ApplicationLogLevel} and above, so you won't see the warnings that onceonly logs on a first call: a key that changes with each retry, a scope that callers can write, a lease that is too long. Set its applicationLogLevel to WARN, or acknowledge this`,
  );
}

/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html#runtime-support-policy */
function findDeprecatedRuntime(app: App, fn: Resource, report: Report): void {
  if (app.propertiesOf(fn).Runtime !== "nodejs20.x") return;
  report(
    "warned",
    "deprecated-runtime",
    fn,
    `${ownerPath(fn)} runs on nodejs20.x, which Lambda deprecated on 2026-04-30: it can't be created from 2027-02-01, and releases of the AWS SDK from January 2027 need Node.js 22. Use Runtime.NODEJS_24_X or NODEJS_22_X`,
  );
}
