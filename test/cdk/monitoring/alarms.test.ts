import { Duration } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { IdempotencyMonitoring, type IdempotencyMonitoringProps, IdempotencyTable } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { PROJECT_URL } from "../../../lib/contract.ts";
import { unitStack } from "../app-given.ts";
import { alarmsIn, monitored, newFunction } from "./given.ts";

const alarmsWith = (changes?: Partial<IdempotencyMonitoringProps>) => alarmsIn(monitored(changes).template());
const ofKind = (kind: string, changes?: Partial<IdempotencyMonitoringProps>) =>
  alarmsWith(changes).filter((alarm) => alarm.kind === kind);

const actionTo = (alarmActionArn: string): IAlarmAction => ({ bind: () => ({ alarmActionArn }) });
const PAGER = "arn:aws:sns:eu-west-1:123456789012:pager";
const MAIL = "arn:aws:sns:eu-west-1:123456789012:mail";

describe("the alarms of IdempotencyMonitoring", () => {
  it("take missing data for no alarm, and do nothing by themselves", () => {
    const alarms = alarmsWith();

    expect(alarms.length).toBeGreaterThan(0);
    for (const { properties } of alarms) {
      expect(properties).toMatchObject({
        TreatMissingData: "notBreaching",
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

  it("link to a copy of the runbook", () => {
    const [alarm] = ofKind("mismatches", { runbookUrl: "https://wiki.example/onceonly" });

    expect(alarm?.properties.AlarmDescription).toMatch(
      / Runbook: https:\/\/wiki\.example\/onceonly#mismatches$/,
    );
  });

  it("have one alarm per severity, under the thresholds they are given", () => {
    const alarms = ofKind("in-progress", {
      addInProgressAlarm: {
        Notice: { threshold: 5 },
        Critical: {
          threshold: 50,
          evaluationPeriods: 4,
          datapointsToAlarm: 3,
          period: Duration.minutes(1),
        },
      },
    });

    expect(alarms.map(({ severity, threshold }) => [severity, threshold])).toEqual([
      ["Notice", 5],
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

  it("act as they are told, all of them or one severity", () => {
    const alarms = alarmsWith({
      alarmActions: [actionTo(MAIL)],
      addCompletionLostAlarm: { Critical: { threshold: 0, alarmActions: [actionTo(PAGER)] } },
    });

    for (const { kind, properties } of alarms) {
      expect(properties.AlarmActions).toEqual([kind === "completion-lost" ? PAGER : MAIL]);
    }
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
      "store-failures",
      "table-throttles",
      "taken-over",
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
