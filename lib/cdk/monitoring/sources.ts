// The metrics that each alarm of IdempotencyMonitoring watches: those of the service, its table, functions and queues.
import { Stack, Token } from "aws-cdk-lib";
import { type IMetric, MathExpression, type MetricOptions, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { type ITable, Operation } from "aws-cdk-lib/aws-dynamodb";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import { timeoutOf } from "../checks/consumers.ts";
import type { AlarmKind } from "./alarms.ts";
import type { IdempotencyMetrics } from "./metrics.ts";
import type { IdempotencyMonitoringProps } from "./props.ts";

export interface AlarmSource {
  readonly kind: AlarmKind;
  readonly metric: (options: MetricOptions) => IMetric;
  /** The watched resource, if there may be several. */
  readonly resource?: IConstruct;
  /** The queue, if the alarm watches the age of its messages. */
  readonly queue?: IQueue;
  /** The watched operation, if there may be several. */
  readonly operation?: string;
  /** The function that writes the metric in each run, so missing data means that it isn't running. */
  readonly writer?: IFunction;
}

/** The requests that operations, relay and sweeper make to the table. An alarm can read at most ten metrics. */
const TABLE_OPERATIONS = [
  Operation.GET_ITEM,
  Operation.PUT_ITEM,
  Operation.UPDATE_ITEM,
  Operation.DELETE_ITEM,
  Operation.QUERY,
  Operation.TRANSACT_WRITE_ITEMS,
];

export function alarmSources(props: IdempotencyMonitoringProps, metrics: IdempotencyMetrics): AlarmSource[] {
  const { table, relay, sweeper, reconciler, deadLetterQueues = [], functions = [] } = props;
  return [
    ...replayRates(props, metrics),
    { kind: "replay-spike", metric: (options) => metrics.decision("replayed", options) },
    { kind: "mismatches", metric: (options) => metrics.decision("mismatch", options) },
    { kind: "mismatch-spike", metric: (options) => metrics.decision("mismatch", options) },
    { kind: "new-keys", metric: (options) => metrics.decision("new-keys", options) },
    { kind: "in-progress", metric: (options) => metrics.decision("in-progress", options) },
    { kind: "in-progress-age", metric: (options) => metrics.inProgressAge(options) },
    { kind: "held", metric: (options) => metrics.decision("held", options) },
    { kind: "taken-over", metric: (options) => metrics.decision("taken-over", options) },
    { kind: "claim-lost", metric: (options) => metrics.decision("claim-lost", options) },
    { kind: "completion-lost", metric: (options) => metrics.decision("completion-lost", options) },
    { kind: "ran-unprotected", metric: (options) => metrics.decision("ran-unprotected", options) },
    { kind: "outcome-unknown", metric: (options) => metrics.decision("outcome-unknown", options) },
    ...(reconciler
      ? [
          {
            kind: "unsettled-age",
            metric: (options) => metrics.unsettled("oldestMs", options),
            writer: reconciler,
          } as AlarmSource,
        ]
      : []),
    { kind: "store-failures", metric: (options) => metrics.decision("store-failed", options) },
    { kind: "table-throttles", metric: (options) => tableThrottles(table.table, options) },
    ...(hasOutbox(props) ? outboxSources(metrics, sweeper) : []),
    ...(relay ? [{ kind: "relay-iterator-age", metric: iteratorAgeOf(relay) } as const] : []),
    ...deadLetterQueues.flatMap((resource): AlarmSource[] => [
      {
        kind: "dead-letters",
        metric: (options) => resource.metricApproximateNumberOfMessagesVisible(options),
        resource,
      },
      {
        kind: "dead-letter-age",
        metric: (options) => resource.metricApproximateAgeOfOldestMessage(options),
        resource,
        queue: resource,
      },
    ]),
    ...allFunctions(props).map(
      (resource): AlarmSource => ({
        kind: "function-errors",
        metric: (options) => resource.metricErrors(options),
        resource,
      }),
    ),
    ...functions.flatMap(durationOf),
  ];
}

/** One alarm per operation, because a combined rate hides a single operation's. */
function replayRates(
  { operations = [] }: IdempotencyMonitoringProps,
  metrics: IdempotencyMetrics,
): AlarmSource[] {
  const kind = "replay-rate";
  if (operations.length === 0) return [{ kind, metric: (options) => metrics.replayRateOfMany(options) }];
  return operations.map((operation) => ({
    kind,
    metric: (options) => metrics.replayRateOfMany({ ...options, operation }),
    operation,
  }));
}

/** In percent of the timeout, if that's known. */
function durationOf(resource: IFunction): AlarmSource[] {
  const seconds = secondsOf(resource);
  if (seconds === undefined) return [];
  const metric = ({ period }: MetricOptions) =>
    new MathExpression({
      expression: `100 * duration / ${seconds * 1000}`,
      usingMetrics: {
        duration: resource.metricDuration({ statistic: Stats.p(99), ...(period && { period }) }),
      },
      ...(period && { period }),
    });
  return [{ kind: "work-near-lease", metric, resource }];
}

/** The timeout of a function, if that's known. Imported functions have no `runtime`. */
const secondsOf = (fn: IFunction) => ("runtime" in fn ? timeoutOf(fn as LambdaFunction) : undefined);

/** The longest timeout of `functions`, as far as known, in milliseconds. */
export const longestRunMs = ({ functions = [] }: IdempotencyMonitoringProps) =>
  1000 * Math.max(0, ...functions.map((fn) => secondsOf(fn) ?? 0));

function outboxSources(metrics: IdempotencyMetrics, sweeper: IFunction | undefined): AlarmSource[] {
  return [
    { kind: "outbox-lag", metric: (options) => metrics.outboxLag(options) },
    { kind: "send-failed", metric: (options) => metrics.outboxEvent("send-failed", options) },
    {
      kind: "outbox-age",
      metric: (options) => metrics.outboxBacklog("oldestMs", options),
      ...(sweeper && { writer: sweeper }),
    },
    { kind: "outbox-backlog", metric: (options) => metrics.outboxBacklog("waiting", options) },
    { kind: "outbox-parked", metric: (options) => metrics.outboxBacklog("parked", options) },
  ];
}

export function hasOutbox({ relay, sweeper }: IdempotencyMonitoringProps): boolean {
  return relay !== undefined || sweeper !== undefined;
}

/** The given functions may include the relay, the sweeper and the reconciler. */
export function allFunctions(props: IdempotencyMonitoringProps): IFunction[] {
  const { functions = [], relay, sweeper, reconciler } = props;
  const others = [relay, sweeper, reconciler].filter((fn) => fn !== undefined);
  return [...new Set([...functions, ...others])];
}

export function tableThrottles(table: ITable, options: MetricOptions): IMetric {
  const placed = { operations: TABLE_OPERATIONS, ...placeOf(table), ...options };
  return table.metricThrottledRequestsForOperations(placed);
}

/** CDK rejects an alarm on a table whose Region is only known at deployment. Functions only use a table in their own Region. */
function placeOf(table: ITable): MetricOptions {
  const { region } = Stack.of(table);
  return Token.isUnresolved(table.env.region) && !Token.isUnresolved(region) ? { region } : {};
}

export function tableSystemErrors(table: ITable, options: MetricOptions): IMetric {
  return table.metricSystemErrorsForOperations({ operations: TABLE_OPERATIONS, ...options });
}

/** https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html */
export function iteratorAgeOf(relay: IFunction): AlarmSource["metric"] {
  return (options) => relay.metric("IteratorAge", { statistic: Stats.MAXIMUM, ...options });
}
