// The dashboard of IdempotencyMonitoring, row by row: from the callers' view down to the table and the queues.
import {
  type Alarm,
  AlarmStatusWidget,
  GraphWidget,
  type IMetric,
  type IWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import { METRICS } from "../../contract.ts";
import type { IdempotencyMetrics } from "./metrics.ts";
import type { IdempotencyMonitoringProps } from "./props.ts";
import { allFunctions, hasOutbox, iteratorAgeOf, tableSystemErrors, tableThrottles } from "./sources.ts";

type CountedDecision = keyof typeof METRICS.decisions;

/** A graph of a row; the graphs of a row share its width. */
interface Graph {
  readonly title: string;
  readonly left: IMetric[];
}

/** A dashboard is 24 columns wide. */
const FULL_WIDTH = 24;

export function widgetRows(
  props: IdempotencyMonitoringProps,
  metrics: IdempotencyMetrics,
  alarms: readonly Alarm[],
): IWidget[][] {
  const counts = (title: string, decisions: readonly CountedDecision[]) =>
    graph(
      title,
      decisions.map((decision) => metrics.decision(decision, { label: decision })),
    );
  const durations = (title: string, metricName: string) =>
    graph(
      title,
      ["p50", "p99"].map((statistic) => metrics.metric(metricName, { statistic, label: statistic })),
    );
  const rows: Graph[][] = [
    [
      counts("Answers", ["executed", "replayed", "released"]),
      graph("Replay rate (%)", [metrics.replayRate()]),
      counts("Refusals", ["in-progress", "held", "mismatch", "key-missing", "caller-refused"]),
    ],
    [
      counts("Attempts that went wrong", [
        "taken-over",
        "verified",
        "claim-lost",
        "completion-lost",
        "outcome-unknown",
      ]),
      counts("Weaker or costlier than promised", [
        "ran-unprotected",
        "key-fallback",
        "key-expired",
        "new-keys",
        "clock-skewed",
        "group-refused",
      ]),
      counts("Store failures", ["store-failed"]),
    ],
    [
      durations("Executions (ms)", METRICS.durations.executed),
      durations("Replays (ms)", METRICS.durations.replayed),
      graph("Age of keys in progress (ms)", [metrics.inProgressAge({ label: "longest" })]),
    ],
    tableRow(props),
    ...(props.operations ?? []).map((operation) => operationRow(operation, metrics)),
    hasOutbox(props) ? outboxRow(props, metrics) : [],
    props.reconciler ? settlingRow(metrics) : [],
    queueRow(props),
    functionRow(props),
  ];
  const status = new AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: FULL_WIDTH });
  return [...(alarms.length === 0 ? [] : [[status]]), ...rows.filter((row) => row.length > 0).map(widgetsOf)];
}

function widgetsOf(row: readonly Graph[]): IWidget[] {
  const width = FULL_WIDTH / row.length;
  return row.map(({ title, left }) => new GraphWidget({ title, left, leftYAxis: { min: 0 }, width }));
}

function operationRow(operation: string, metrics: IdempotencyMetrics): Graph[] {
  const count = (decision: CountedDecision) => metrics.decision(decision, { operation, label: decision });
  return [
    graph(`${operation}: answers`, [count("executed"), count("replayed"), count("released")]),
    graph(`${operation}: replay rate (%)`, [metrics.replayRate({ operation })]),
    graph(`${operation}: problems`, [
      count("mismatch"),
      count("in-progress"),
      count("taken-over"),
      count("claim-lost"),
      count("completion-lost"),
      count("outcome-unknown"),
      count("ran-unprotected"),
    ]),
  ];
}

function tableRow({ table: { table } }: IdempotencyMonitoringProps): Graph[] {
  return [
    graph("Table: throttled requests", [tableThrottles(table, { label: "throttled" })]),
    graph("Table: system errors", [tableSystemErrors(table, { label: "system errors" })]),
    // Replays and refusals fail a condition, so failed conditions aren't errors.
    graph("Table: failed conditions", [table.metricConditionalCheckFailedRequests({ label: "refused" })]),
  ];
}

function outboxRow({ relay }: IdempotencyMonitoringProps, metrics: IdempotencyMetrics): Graph[] {
  return [
    graph("Commits with messages", [
      metrics.outboxEvent("sent", { label: "sent" }),
      metrics.outboxEvent("send-failed", { label: "send-failed" }),
      metrics.outboxEvent("parked", { label: "parked" }),
    ]),
    graph("Outbox lag (ms)", [
      metrics.outboxLag({ label: "longest" }),
      metrics.outboxBacklog("oldestMs", { label: "oldest waiting" }),
    ]),
    graph("Outbox: commits left", [
      metrics.outboxBacklog("waiting", { label: "waiting" }),
      metrics.outboxBacklog("parked", { label: "parked" }),
    ]),
    ...(relay ? [graph("Relay iterator age (ms)", [iteratorAgeOf(relay)({ label: "longest" })])] : []),
  ];
}

function settlingRow(metrics: IdempotencyMetrics): Graph[] {
  return [
    graph(
      "Unknown outcomes, by answer",
      (["happened", "did-not-happen", "unknown", "unasked", "unrecorded"] as const).map((event) =>
        metrics.settlingEvent(event, { label: event }),
      ),
    ),
    graph("Unknown outcomes: keys left", [
      metrics.unsettled("keys", { label: "all" }),
      metrics.unsettled("unasked", { label: "no verifier" }),
    ]),
    graph("Unknown outcomes: age (ms)", [
      metrics.unsettled("oldestMs", { label: "oldest unsettled" }),
      metrics.settlingTime({ label: "when settled" }),
    ]),
  ];
}

function queueRow({ queues = [], deadLetterQueues = [] }: IdempotencyMonitoringProps): Graph[] {
  const all = [...queues, ...deadLetterQueues];
  if (all.length === 0) return [];
  return [
    graph(
      "Messages in queues",
      all.map((queue) => queue.metricApproximateNumberOfMessagesVisible({ label: queue.node.id })),
    ),
    graph(
      "Oldest message (s)",
      all.map((queue) => queue.metricApproximateAgeOfOldestMessage({ label: queue.node.id })),
    ),
  ];
}

function functionRow(props: IdempotencyMonitoringProps): Graph[] {
  const functions = allFunctions(props);
  if (functions.length === 0) return [];
  return [
    graph(
      "Function errors",
      functions.map((fn) => fn.metricErrors({ label: fn.node.id })),
    ),
    graph(
      "Function throttles",
      functions.map((fn) => fn.metricThrottles({ label: fn.node.id })),
    ),
    graph(
      "Function durations, p99 (ms)",
      functions.map((fn) => fn.metricDuration({ statistic: "p99", label: fn.node.id })),
    ),
  ];
}

function graph(title: string, left: IMetric[]): Graph {
  return { title, left };
}
