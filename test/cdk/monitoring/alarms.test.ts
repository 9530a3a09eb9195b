import { Duration, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import {
  IdempotencyMonitoring,
  type IdempotencyMonitoringProps,
  IdempotencyTable,
  Reconciler,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { PROJECT_URL } from "../../../lib/contract.ts";
import { unitApp, unitStack } from "../app-given.ts";
import { alarmsIn, monitored, newFunction } from "./given.ts";

const alarmsWith = (changes?: Partial<IdempotencyMonitoringProps>) => alarmsIn(monitored(changes).template());
const ofKind = (kind: string, changes?: Partial<IdempotencyMonitoringProps>) =>
  alarmsWith(changes).filter((alarm) => alarm.kind === kind);

const actionTo = (alarmActionArn: string): IAlarmAction => ({ bind: () => ({ alarmActionArn }) });
const PAGER = "arn:aws:sns:eu-west-1:123456789012:pager";
const MAIL = "arn:aws:sns:eu-west-1:123456789012:mail";

const WRITTEN_BY_EACH_RUN = ["unsettled-age", "outbox-age"];

describe("the alarms of IdempotencyMonitoring", () => {
  it("take missing data for no alarm, but of what writes in each run, and do nothing by themselves", () => {
    const alarms = alarmsWith();

    expect(alarms.length).toBeGreaterThan(0);
    for (const { kind, properties } of alarms) {
      expect(properties).toMatchObject({
        TreatMissingData: WRITTEN_BY_EACH_RUN.includes(kind) ? "breaching" : "notBreaching",
        ComparisonOperator: "GreaterThanThreshold",
      });
      expect(properties).not.toHaveProperty("AlarmActions");
      expect(properties).not.toHaveProperty("OKActions");
    }
  });

  it("say their severity and meaning, and end with a link to the runbook", () => {
    for (const { kind, severity, properties } of alarmsWith()) {
      const description = properties.AlarmDescription as string;

      expect(description).toMatch(
        new RegExp(
          `^${severity}: [A-Z].+ Runbook: ${PROJECT_URL}/blob/main/docs/operate/runbook\\.md#${kind}$`,
        ),
      );
      expect(description.length).toBeLessThanOrEqual(1024);
    }
  });

  it("F4: expect a key to be in progress for as long as the longest of `functions` may run", () => {
    const thresholdWith = (timeout: Duration, changes: Partial<IdempotencyMonitoringProps> = {}) => {
      const app = unitApp();
      const functions = [newFunction(new Stack(app, "Functions"), "Long", { timeout })];
      const alarms = alarmsIn(monitored({ functions, ...changes }, app).template());
      return alarms.find(({ kind }) => kind === "in-progress-age")?.threshold;
    };

    expect(thresholdWith(Duration.minutes(15))).toBe(900_000);
    expect(thresholdWith(Duration.minutes(90))).toBe(5_400_000);
    const given = { addInProgressAgeAlarm: { Warning: { threshold: 7 } } };
    expect(thresholdWith(Duration.minutes(90), given)).toBe(7);
  });

  it("link to a copy of the runbook", () => {
    const [alarm] = ofKind("mismatches", { runbookUrl: "https://wiki.example/onceonly" });

    expect(alarm?.properties.AlarmDescription).toMatch(
      / Runbook: https:\/\/wiki\.example\/onceonly#mismatches$/,
    );
  });

  it.each(["docs/runbook.md", "/runbook", "wiki.example/onceonly", "https://wiki.example/x#there", ""])(
    "refuse the runbook %j, to which nobody gets from a message",
    (runbookUrl) => {
      expect(() => monitored({ runbookUrl })).toThrow(
        "which alarms can't link to: pass an absolute URL without a fragment",
      );
    },
  );

  it("have one alarm per severity, under the thresholds they are given", () => {
    const alarms = ofKind("in-progress", {
      addInProgressAlarm: {
        Warning: { threshold: 5 },
        Critical: {
          threshold: 50,
          evaluationPeriods: 4,
          datapointsToAlarm: 3,
          period: Duration.minutes(1),
        },
      },
    });

    expect(alarms.map(({ severity, threshold }) => [severity, threshold])).toEqual([
      ["Warning", 5],
      ["Critical", 50],
    ]);
    expect(alarms[0]?.properties).toMatchObject({ EvaluationPeriods: 1, Period: 300 });
    expect(alarms[0]?.properties).not.toHaveProperty("DatapointsToAlarm");
    expect(alarms[1]?.properties).toMatchObject({ EvaluationPeriods: 4, DatapointsToAlarm: 3, Period: 60 });
  });

  it("are not there for an empty map", () => {
    expect(ofKind("mismatches")).toHaveLength(1);
    expect(ofKind("mismatches", { addMismatchesAlarm: {} })).toEqual([]);
  });

  it("have the given actions, all of them or one severity", () => {
    const alarms = alarmsWith({
      alarmActions: [actionTo(MAIL)],
      okActions: [actionTo(PAGER)],
      addCompletionLostAlarm: {
        Critical: { threshold: 0, alarmActions: [actionTo(PAGER)], okActions: [actionTo(MAIL)] },
      },
    });

    for (const { kind, properties } of alarms) {
      const [raised, over] = kind === "completion-lost" ? [PAGER, MAIL] : [MAIL, PAGER];
      expect([properties.AlarmActions, properties.OKActions]).toEqual([[raised], [over]]);
    }
  });

  it("act by severity", () => {
    const alarms = alarmsWith({
      alarmActions: { Warning: [actionTo(MAIL)], Critical: [actionTo(PAGER)] },
      okActions: { Warning: [actionTo(MAIL)] },
    });

    for (const { severity, properties } of alarms) {
      expect([properties.AlarmActions, properties.OKActions]).toEqual(
        severity === "Critical" ? [[PAGER], undefined] : [[MAIL], [MAIL]],
      );
    }
  });

  it.each([
    ["all", ["Warning", "Critical"], undefined],
    ["critical", ["Critical"], undefined],
    ["none", [], undefined],
    // What is asked for by name is there in any case.
    ["none", ["Warning"], { addMismatchesAlarm: { Warning: { threshold: 1 } } }],
  ] as const)("of the preset %s have the severities %j", (preset, severities, asked) => {
    const alarms = alarmsWith({ alarms: preset, ...asked });

    expect([...new Set(alarms.map(({ severity }) => severity))].sort()).toEqual([...severities].sort());
    if (asked) expect(alarms.map(({ kind }) => kind)).toEqual(["mismatches"]);
  });

  it("of a preset that there is not are refused, and so is a severity", () => {
    // @ts-expect-error JavaScript has no types
    expect(() => monitored({ alarms: "some" })).toThrow(
      'alarms of Test/Monitoring is "some": use all or critical or none',
    );
    // @ts-expect-error JavaScript has no types
    expect(() => monitored({ addHeldAlarm: { Notice: { threshold: 0 } } })).toThrow(
      'a severity in addHeldAlarm of Test/Monitoring is "Notice": use Warning or Critical',
    );
  });

  it("are not raised by one caller with one bad key, but by many", () => {
    for (const kind of ["mismatches", "in-progress"]) {
      const [alarm] = ofKind(kind);
      expect(alarm).toMatchObject({ threshold: 20, properties: { EvaluationPeriods: 3, Period: 300 } });
    }
  });

  it("have one composite alarm of each severity, which acts in their place", () => {
    const { monitoring, template } = monitored({
      compositeAlarms: true,
      alarmActions: { Critical: [actionTo(PAGER)] },
      okActions: [actionTo(MAIL)],
      addHeldAlarm: { Critical: { threshold: 0, alarmActions: [actionTo(MAIL)] } },
    });
    const composites = Object.values(template().findResources("AWS::CloudWatch::CompositeAlarm"));

    expect(Object.keys(monitoring.compositeAlarms)).toEqual(["Warning", "Critical"]);
    expect(composites.map(({ Properties }) => [Properties.AlarmActions, Properties.OKActions])).toEqual([
      [undefined, [MAIL]],
      [[PAGER], [MAIL]],
    ]);
    for (const { kind, severity, properties } of alarmsIn(template())) {
      expect(properties.AlarmActions).toEqual(kind === "held" ? [MAIL] : undefined);
      expect(JSON.stringify(composites[severity === "Warning" ? 0 : 1])).toContain(
        `Monitoring${kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}${severity}`,
      );
    }
    monitored().template().resourceCountIs("AWS::CloudWatch::CompositeAlarm", 0);
  });

  it("are refused in a composite alarm whose rule CloudWatch does not take", () => {
    const { stack, given } = monitored();
    const functions = Array.from({ length: 80 }, (_, index) => newFunction(stack, `Fn${index}`));

    expect(
      () => new IdempotencyMonitoring(stack, "Many", { ...given, functions, compositeAlarms: true }),
    ).toThrow("CloudWatch accepts about 75 in one composite alarm");
  });

  it("on a table are there once for each table, however many services watch it", () => {
    const { stack, given } = monitored();
    const imported = IdempotencyTable.fromTableAttributes(stack, "Imported", {
      tableName: given.table.table.tableName,
    });
    new IdempotencyMonitoring(stack, "Again", { table: imported, service: "other" });
    const other = new IdempotencyTable(stack, "Other");
    new IdempotencyMonitoring(stack, "OfOther", { table: other, service: "third" });
    const asked = { addTableThrottlesAlarm: { Warning: { threshold: 5 } } };
    new IdempotencyMonitoring(stack, "Asked", { table: other, service: "fourth", ...asked });
    const ids = Object.keys(Template.fromStack(stack).findResources("AWS::CloudWatch::Alarm"));

    expect(ids.filter((id) => id.includes("TableThrottles")).map((id) => id.slice(0, -8))).toEqual([
      "MonitoringTableThrottlesWarning",
      "MonitoringTableThrottlesCritical",
      "OfOtherTableThrottlesWarning",
      "OfOtherTableThrottlesCritical",
      "AskedTableThrottlesWarning",
    ]);
  });

  it("on what each run writes look back over a whole interval, and know no sweeper that is not given", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table", { unknownOutcomes: true });
    const reconciler = newFunction(stack, "Settle");
    new Reconciler(stack, "Reconciler", { table, handler: reconciler, interval: Duration.hours(1) });
    new IdempotencyMonitoring(stack, "Monitoring", { table, reconciler, relay: newFunction(stack, "Relay") });
    const alarms = alarmsIn(Template.fromStack(stack));
    const of = (kind: string) => alarms.find((alarm) => alarm.kind === kind)?.properties;

    expect(of("unsettled-age")).toMatchObject({ Period: 3600, TreatMissingData: "breaching" });
    expect(of("outbox-age")).toMatchObject({ Period: 300, TreatMissingData: "notBreaching" });
  });

  it("watch throttled requests of every kind that operations, relay and sweeper make", () => {
    const TableName = { Ref: expect.stringMatching(/^Table/) };

    expect(ofKind("table-throttles")[0]?.metrics).toEqual(
      ["GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "TransactWriteItems"].map((Operation) => ({
        namespace: "AWS/DynamoDB",
        name: "ThrottledRequests",
        dimensions: { Operation, TableName },
      })),
    );
  });

  it("watch the age of what the relay reads, and what is in dead-letter queues", () => {
    const watched = ["relay-iterator-age", "dead-letters", "dead-letter-age"].map((kind) => {
      const [alarm] = ofKind(kind);
      return [alarm?.metrics, alarm?.properties.Statistic];
    });
    const dead = { QueueName: { "Fn::GetAtt": [expect.stringMatching(/^Dead/), "QueueName"] } };
    const relay = { FunctionName: { Ref: expect.stringMatching(/^Relay/) } };
    const queue = (name: string) => [{ namespace: "AWS/SQS", name, dimensions: dead }];

    expect(watched).toEqual([
      [[{ namespace: "AWS/Lambda", name: "IteratorAge", dimensions: relay }], "Maximum"],
      [queue("ApproximateNumberOfMessagesVisible"), "Maximum"],
      [queue("ApproximateAgeOfOldestMessage"), "Maximum"],
    ]);
  });

  it("watch the errors of each function once, relay, sweeper and reconciler included", () => {
    const { stack, given } = monitored();
    new IdempotencyMonitoring(stack, "Again", { ...given, functions: [...given.functions, given.relay] });
    const names = alarmsIn(Template.fromStack(stack))
      .filter(({ kind }) => kind === "function-errors")
      .map(
        ({ metrics }) =>
          JSON.stringify(metrics).match(/CreateOrder|ChargePayment|Relay|Sweeper|Reconciler/)?.[0],
      );

    expect(names.sort()).toEqual(
      ["ChargePayment", "CreateOrder", "Reconciler", "Relay", "Sweeper"].flatMap((name) => [name, name]),
    );
  });

  it("tell two functions of the same id apart", () => {
    const { stack, given } = monitored();
    const functions = ["Shop", "Bank"].map((id) => newFunction(new Construct(stack, id), "Handler"));

    expect(() => new IdempotencyMonitoring(stack, "Again", { table: given.table, functions })).not.toThrow();
  });

  it("are not there for what is not there", () => {
    const none = {
      functions: [],
      relay: undefined,
      sweeper: undefined,
      reconciler: undefined,
      deadLetterQueues: [],
      queues: [],
    };
    const kinds = new Set(alarmsWith(none).map(({ kind }) => kind));

    expect([...kinds].sort()).toEqual([
      "claim-lost",
      "completion-lost",
      "held",
      "in-progress",
      "in-progress-age",
      "mismatches",
      "outcome-unknown",
      "ran-unprotected",
      "replay-rate",
      "store-failures",
      "table-throttles",
      "taken-over",
    ]);
  });

  it("watch the replay rate of each operation that is named, and of all together where none is", () => {
    const of = (operations: string[]) =>
      ofKind("replay-rate", { operations }).map(({ metrics }) => metrics.map(({ dimensions }) => dimensions));

    const dimensions = (operation: string) => ({ service: "onceonly", operation });
    const both = (each: object) => [each, each];
    expect(of(["pay", "ship"])).toEqual([both(dimensions("pay")), both(dimensions("ship"))]);
    expect(of([])).toEqual([both({ service: "onceonly" })]);
  });

  it("raise no replay rate over a few answers", () => {
    const [alarm] = ofKind("replay-rate");
    const [{ Expression }] = alarm!.properties.Metrics as [{ Expression: string }];

    expect(Expression).toMatch(/^IF\(.* >= 20, 100 \* .*, 0\)$/);
    expect(alarm!.threshold).toBe(10);
  });

  it.each([
    ["replay-spike", "addReplaySpikeAlarm", "Replayed"],
    ["mismatch-spike", "addMismatchSpikeAlarm", "Mismatch"],
  ])(
    "%s watches the band that CloudWatch expects, and is there only where it is asked for",
    (kind, property, name) => {
      expect(ofKind(kind)).toEqual([]);
      const [alarm] = ofKind(kind, { [property]: { Warning: { threshold: 3 } } });

      expect(alarm?.properties).toMatchObject({
        ComparisonOperator: "GreaterThanUpperThreshold",
        ThresholdMetricId: "band",
        Metrics: [
          {
            Id: "seen",
            MetricStat: { Metric: { MetricName: expect.stringContaining(name) }, Period: 300, Stat: "Sum" },
          },
          { Id: "band", Expression: "ANOMALY_DETECTION_BAND(seen, 3)" },
        ],
      });
      for (const absent of ["Threshold", "MetricName", "Namespace", "Period", "Statistic", "Dimensions"]) {
        expect(alarm?.properties).not.toHaveProperty(absent);
      }
    },
  );

  it("watch the slowest runs of a function in percent of its timeout, where that is known", () => {
    const stack = unitStack();
    const slow = newFunction(stack, "Slow");
    const arn = "arn:aws:lambda:eu-west-1:123456789012:function:imported";
    const imported = LambdaFunction.fromFunctionArn(stack, "Imported", arn);
    new IdempotencyMonitoring(stack, "Monitoring", {
      table: new IdempotencyTable(stack, "Table"),
      functions: [slow, imported],
    });

    const alarms = alarmsIn(Template.fromStack(stack)).filter(({ kind }) => kind === "work-near-lease");
    expect(alarms).toHaveLength(1);
    expect(alarms[0]?.threshold).toBe(80);
    expect(alarms[0]?.properties.Metrics).toMatchObject([
      { Expression: "100 * duration / 3000" },
      { MetricStat: { Metric: { MetricName: "Duration" }, Stat: "p99" } },
    ]);
  });

  it("keep their logical ids", () => {
    const ids = Object.keys(monitored().template().findResources("AWS::CloudWatch::Alarm"));

    expect(ids).toContain("MonitoringMismatchesWarning4F055D0A");
    expect(ids.filter((id) => id.startsWith("MonitoringFunctionErrorsWarningRelay"))).toHaveLength(1);
  });

  it("watch imported tables, functions and queues as well", () => {
    const stack = unitStack();
    const arn = "arn:aws:lambda:eu-west-1:123456789012:function:relay";
    new IdempotencyMonitoring(stack, "Monitoring", {
      table: IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: "records" }),
      relay: LambdaFunction.fromFunctionArn(stack, "Relay", arn),
      deadLetterQueues: [Queue.fromQueueArn(stack, "Dead", "arn:aws:sqs:eu-west-1:123456789012:dead")],
    });
    const dimensions = alarmsIn(Template.fromStack(stack)).flatMap(({ metrics }) =>
      metrics.map((metric) => JSON.stringify(metric.dimensions)),
    );

    expect(dimensions).toContain('{"FunctionName":"relay"}');
    expect(dimensions).toContain('{"QueueName":"dead"}');
    expect(dimensions).toContain('{"Operation":"Query","TableName":"records"}');
  });
});
