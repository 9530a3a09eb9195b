// The defaults of constructs: what their types say, what their documents say, and what holds are the same.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { DeduplicationScope, FifoThroughputLimit } from "aws-cdk-lib/aws-sqs";
import { describe, expect, it } from "vitest";
import { CONSUMER_DEFAULTS, QUEUE_DEFAULTS } from "../../lib/cdk/dedup-queue-props.ts";
import { TABLE_DEFAULTS } from "../../lib/cdk/idempotency-table-props.ts";
import { FUNCTION_DEFAULTS } from "../../lib/cdk/idempotent-function-props.ts";
import {
  DEFAULT_EVALUATION,
  DEFAULT_RUNBOOK_URL,
  DEFAULT_THRESHOLDS,
  MONITORING_DEFAULTS,
  THRESHOLD_PROPERTIES,
} from "../../lib/cdk/monitoring/alarms.ts";
import { RELAY_DEFAULTS } from "../../lib/cdk/outbox-relay-props.ts";
import { RECONCILER_DEFAULTS } from "../../lib/cdk/reconciler-props.ts";
import { ACCESS_DEFAULTS } from "../../lib/cdk/record-access.ts";
import { MESSAGE_RETENTION_SECONDS } from "../../lib/cdk/rules/durable.ts";
import { defaultRetention } from "../../lib/cdk/rules/functions.ts";
import { USE_DEFAULTS } from "../../lib/cdk/use-idempotency-options.ts";
import { START_DEFAULTS } from "../../lib/cdk/use-start-once.ts";
import { DEFAULTS as CLIENT_DEFAULTS } from "../../lib/client/options.ts";
import { ATTRIBUTES, METRICS, OUTBOX_INDEX } from "../../lib/contract.ts";
import { MESSAGE_DEFAULTS } from "../../lib/core/message-age.ts";
import { DEFAULTS as HANDLER_DEFAULTS } from "../../lib/core/options.ts";
import { expectGenerated } from "../kit/generated.ts";
import { root } from "../kit/project.ts";

interface Property {
  readonly name: string;
  readonly isOptional: boolean;
  /** What `@default` says, on one line. */
  readonly stated: string | undefined;
  /** What else the comment says, on one line. */
  readonly says: string;
}

const TABLE_NAMES = { partitionKey: ATTRIBUTES.partitionKey, ttlAttribute: ATTRIBUTES.expiresAt };

const METRIC_NAMES = { service: METRICS.service, namespace: METRICS.namespace };

const ALARM_DEFAULTS = Object.fromEntries(
  Object.entries(THRESHOLD_PROPERTIES).map(([kind, property]) => [
    property,
    DEFAULT_THRESHOLDS[kind as keyof typeof DEFAULT_THRESHOLDS],
  ]),
);

const EVALUATION_DEFAULTS = {
  evaluationPeriods: DEFAULT_EVALUATION.evaluationPeriods,
  period: Duration.minutes(DEFAULT_EVALUATION.periodMinutes),
};

const interfaces: readonly (readonly [file: string, name: string, defaults: object])[] = [
  ["idempotency-table-props", "IdempotencyTableProps", TABLE_DEFAULTS],
  [
    "idempotency-table-props",
    "IdempotencyTableAttributes",
    { unknownOutcomes: TABLE_DEFAULTS.unknownOutcomes, ...TABLE_NAMES },
  ],
  ["record-access", "RecordAccessOptions", ACCESS_DEFAULTS],
  ["use-idempotency-options", "UseIdempotencyOptions", USE_DEFAULTS],
  ["use-start-once", "UseStartOnceOptions", START_DEFAULTS],
  ["dedup-queue-props", "DedupQueueProps", QUEUE_DEFAULTS],
  ["dedup-queue-props", "DedupQueueConsumerOptions", CONSUMER_DEFAULTS],
  ["outbox-relay-props", "OutboxRelayProps", { ...RELAY_DEFAULTS, ...METRIC_NAMES, indexName: OUTBOX_INDEX }],
  ["reconciler-props", "ReconcilerProps", RECONCILER_DEFAULTS],
  ["idempotent-function-props", "IdempotentFunctionProps", FUNCTION_DEFAULTS],
  [
    "monitoring/props",
    "IdempotencyMonitoringProps",
    { ...METRIC_NAMES, ...MONITORING_DEFAULTS, runbookUrl: DEFAULT_RUNBOOK_URL },
  ],
  ["monitoring/thresholds", "IdempotencyAlarmProps", ALARM_DEFAULTS],
  ["monitoring/thresholds", "AlarmThreshold", EVALUATION_DEFAULTS],
  ["monitoring/metrics", "IdempotencyMetricOptions", {}],
];

function propertiesOf(file: string, name: string): Property[] {
  const source = readFileSync(join(root, `lib/cdk/${file}.ts`), "utf8");
  const [, body = ""] = new RegExp(`^export interface ${name} .*?\\{\\n(.*?)^\\}`, "ms").exec(source) ?? [];
  return [...body.matchAll(/\/\*\*(.*?)\*\/\s*readonly (\w+)(\??):/gs)].map(([, comment, name, optional]) => {
    const [says = "", stated] = onOneLine(comment!).split("@default ");
    return { name: name!, isOptional: optional === "?", stated: stated?.trim(), says: says.trim() };
  });
}

const onOneLine = (comment: string) => comment.replaceAll(/\s*\n\s*\*[^\S\n]*/g, " ").trim();

/** The value that a `@default` names, as a user would write it. */
function evaluate(code: string): unknown {
  const names = {
    Architecture,
    DeduplicationScope,
    Duration,
    FifoThroughputLimit,
    OutputFormat,
    RemovalPolicy,
    RetentionDays,
    Runtime,
  };
  return new Function(...Object.keys(names), `return (${code});`)(...Object.values(names));
}

const comparable = (value: unknown) => (value instanceof Duration ? `${value.toMilliseconds()} ms` : value);

describe.each(interfaces)("%s: %s", (file, name, defaults) => {
  const properties = propertiesOf(file, name);
  const stated = properties.filter(({ stated }) => stated !== undefined && !stated.startsWith("- "));

  it("states a default of every optional property, and of no other", () => {
    expect(properties.length).toBeGreaterThan(0);
    expect(properties.filter(({ isOptional, stated }) => isOptional !== (stated !== undefined))).toEqual([]);
  });

  it("states the values that hold", () => {
    const statedValues = stated.map(({ name, stated }) => [name, comparable(evaluate(stated!))]);
    const values = Object.entries(defaults).map(([name, value]) => [name, comparable(value)]);

    expect(Object.fromEntries(statedValues)).toEqual(Object.fromEntries(values));
  });
});

const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  IdempotencyTable: ["IdempotencyTableProps"],
  UseIdempotency: ["RecordAccessOptions", "UseIdempotencyOptions"],
  UseStartOnce: ["UseStartOnceOptions"],
  DedupQueue: ["DedupQueueProps"],
  DedupQueueConsumerOptions: ["DedupQueueConsumerOptions"],
  OutboxRelay: ["OutboxRelayProps"],
  Reconciler: ["ReconcilerProps"],
  IdempotencyMonitoring: ["IdempotencyMonitoringProps", "IdempotencyAlarmProps"],
  IdempotentFunction: ["IdempotentFunctionProps"],
};

// To write the tables again: npx vitest run test/cdk/construct-defaults.test.ts -u
it("docs/reference/constructs.md has the properties of each construct as their types document them", async () => {
  const parts = Object.entries(SECTIONS).map(([section, names]) => {
    const properties = names.flatMap((name) =>
      propertiesOf(interfaces.find(([, candidate]) => candidate === name)![0], name),
    );
    return [`props of ${section}`, tableOf(properties)];
  });

  await expectGenerated("docs/reference/constructs.md", Object.fromEntries(parts));
});

function tableOf(properties: readonly Property[]): string {
  const rows = properties.map(
    ({ name, stated, says }) => `| \`${name}\` | ${written(stated)} | ${says.replaceAll("|", "\\|")} |`,
  );
  return ["| prop | default | meaning |", "|---|---|---|", ...rows].join("\n");
}

function written(stated: string | undefined): string {
  if (stated === undefined) return "required";
  return stated.startsWith("- ") ? stated.slice(2) : `\`${stated}\``;
}

describe("defaults that follow from others", () => {
  it("use the handlers' retention, for messages and for everything else", () => {
    const app = { ofType: () => [] } as never;

    expect(defaultRetention(app, {} as never)).toBe(HANDLER_DEFAULTS.retentionSeconds);
    expect(MESSAGE_RETENTION_SECONDS).toBe(MESSAGE_DEFAULTS.retentionSeconds);
  });

  it("use the client's deadline", () => {
    for (const { clientWindow } of [USE_DEFAULTS, START_DEFAULTS])
      expect(clientWindow.toSeconds()).toBe(CLIENT_DEFAULTS.deadlineSeconds);
  });

  it("hide a message for six times as long as an IdempotentFunction runs", () => {
    expect(QUEUE_DEFAULTS.visibilityTimeout.toSeconds()).toBe(6 * FUNCTION_DEFAULTS.timeout.toSeconds());
  });
});
