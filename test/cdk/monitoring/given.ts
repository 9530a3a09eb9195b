// A stack whose monitoring watches one of everything, and its alarms as the template has them.
import { type App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code, type FunctionOptions, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { IdempotencyMonitoring, type IdempotencyMonitoringProps, IdempotencyTable } from "onceonly/cdk";
import { unitApp } from "../app-given.ts";

export interface MetricIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
}

export interface SynthesizedAlarm {
  /** The anchor of its section in the runbook. */
  readonly kind: string;
  readonly severity: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly threshold: number;
  /** What it watches, in an expression or not. */
  readonly metrics: readonly MetricIdentity[];
}

export function newFunction(scope: Construct, id: string, options: FunctionOptions = {}): LambdaFunction {
  return new LambdaFunction(scope, id, {
    ...options,
    runtime: Runtime.NODEJS_24_X,
    handler: "index.handler",
    code: Code.fromInline("exports.handler = async () => {};"),
  });
}

/** Everything that can be watched is there, unless `changes` say otherwise. */
export function monitored(changes: Partial<IdempotencyMonitoringProps> = {}, app: App = unitApp()) {
  const stack = new Stack(app, "Test");
  const table = new IdempotencyTable(stack, "Table", { outbox: true });
  const given = {
    table,
    functions: [newFunction(stack, "CreateOrder"), newFunction(stack, "ChargePayment")],
    relay: newFunction(stack, "Relay"),
    sweeper: newFunction(stack, "Sweeper"),
    reconciler: newFunction(stack, "Reconciler"),
    queues: [new Queue(stack, "Payments", { fifo: true, enforceSSL: true })],
    deadLetterQueues: [new Queue(stack, "Dead", { fifo: true, enforceSSL: true })],
  };
  const monitoring = new IdempotencyMonitoring(stack, "Monitoring", { ...given, ...changes });
  return { stack, monitoring, given, template: () => Template.fromStack(stack) };
}

export function alarmsIn(template: Template): SynthesizedAlarm[] {
  return Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => {
    const { AlarmDescription, Threshold } = Properties;
    const [, severity = "", kind = ""] = /^(\w+): .+ Runbook: \S+#([\w-]+)$/.exec(AlarmDescription) ?? [];
    return { kind, severity, properties: Properties, threshold: Threshold, metrics: metricsOf(Properties) };
  });
}

/** Every metric that the widgets of the dashboard show. */
export function metricsOnDashboard(template: Template): MetricIdentity[] {
  return widgetsIn(template).flatMap(({ properties }) =>
    (properties.metrics ?? []).flatMap((row) => {
      const [namespace, name, ...rest] = row;
      // An expression over others, which are in rows of their own.
      if (typeof namespace !== "string") return [];
      const pairs = rest.filter((part) => typeof part === "string");
      const dimensions = Object.fromEntries(
        pairs.flatMap((key, index) => (index % 2 === 0 ? [[key, pairs[index + 1]]] : [])),
      );
      return [{ namespace, name: name as string, dimensions }];
    }),
  );
}

interface Widget {
  readonly type: string;
  readonly width: number;
  readonly y: number;
  readonly properties: { readonly title?: string; readonly metrics?: readonly (readonly unknown[])[] };
}

/** The dashboard's body, with a name in the place of each reference. */
export function widgetsIn(template: Template): Widget[] {
  const [dashboard] = Object.values(template.findResources("AWS::CloudWatch::Dashboard"));
  const [, parts] = dashboard?.Properties.DashboardBody["Fn::Join"] ?? [];
  const body = parts.map((part: unknown) => (typeof part === "string" ? part : nameIn(part))).join("");
  return JSON.parse(body).widgets;
}

function nameIn(reference: unknown): string {
  return JSON.stringify(reference).replace(/[^\w.]/g, "");
}

function metricsOf(properties: Record<string, unknown>): MetricIdentity[] {
  const { Metrics } = properties as { Metrics?: { MetricStat?: { Metric: Record<string, unknown> } }[] };
  if (Metrics === undefined) return [identityOf(properties)];
  return Metrics.flatMap(({ MetricStat }) => (MetricStat ? [identityOf(MetricStat.Metric)] : []));
}

function identityOf({ Namespace, MetricName, Dimensions }: Record<string, unknown>): MetricIdentity {
  const dimensions = (Dimensions ?? []) as { Name: string; Value: unknown }[];
  return {
    namespace: Namespace as string,
    name: MetricName as string,
    dimensions: Object.fromEntries(dimensions.map(({ Name, Value }) => [Name, Value])),
  };
}
