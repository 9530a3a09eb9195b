import { App, Duration, Token } from "aws-cdk-lib";
import { Match } from "aws-cdk-lib/assertions";
import { IdempotencyMonitoring, OutboxRelay, type OutboxRelayProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { isFull } from "../../setup/tier.ts";
import { monitored, widgetsIn } from "./given.ts";

describe("the metrics of IdempotencyMonitoring", () => {
  const { monitoring } = monitored({ service: "shop", namespace: "Shop" });

  it.each([
    [monitoring.metricExecuted(), "Executed", "Sum"],
    [monitoring.metricReplayed(), "Replayed", "Sum"],
    [monitoring.metricMismatches(), "Mismatch", "Sum"],
    [monitoring.metricInProgress(), "InProgress", "Sum"],
    [monitoring.metricInProgressAge(), "InProgressAge", "Maximum"],
    [monitoring.metricHeld(), "Held", "Sum"],
    [monitoring.metricTakenOver(), "TakenOver", "Sum"],
    [monitoring.metricClaimLost(), "ClaimLost", "Sum"],
    [monitoring.metricCompletionLost(), "CompletionLost", "Sum"],
    [monitoring.metricRanUnprotected(), "RanUnprotected", "Sum"],
    [monitoring.metricOutcomeUnknown(), "OutcomeUnknown", "Sum"],
    [monitoring.metricStoreFailures(), "StoreFailed", "Sum"],
    [monitoring.metricOutboxLag(), "OutboxLag", "Maximum"],
    [monitoring.metricSendFailed(), "OutboxSendFailed", "Sum"],
    [monitoring.metricOutboxBacklog(), "OutboxBacklog", "Maximum"],
    [monitoring.metricOutboxAge(), "OutboxBacklogAge", "Maximum"],
    [monitoring.metricOutboxParked(), "OutboxParkedBacklog", "Maximum"],
    [monitoring.metric("KeyExpired"), "KeyExpired", "Sum"],
  ])("%# has its name, the service as its dimension and a statistic", (metric, metricName, statistic) => {
    expect(metric).toMatchObject({
      namespace: "Shop",
      metricName,
      statistic,
      dimensions: { service: "shop" },
      period: Duration.minutes(5),
    });
  });

  it("accept an operation and other options", () => {
    const metric = monitoring.metricExecuted({ operation: "a#b", period: Duration.hours(1), label: "x" });

    expect(metric).toMatchObject({ dimensions: { service: "shop", operation: "a%23b" }, label: "x" });
    expect(metric.period.toSeconds()).toBe(3600);
  });

  it("have the replay rate as percent of all answers, also while one of the two is missing", () => {
    const { expression, usingMetrics, period } = monitoring.metricReplayRate({
      operation: "create-order",
      period: Duration.minutes(1),
    });

    expect(expression).toBe("100 * FILL(replayed, 0) / (FILL(replayed, 0) + FILL(executed, 0))");
    expect(usingMetrics).toMatchObject({
      replayed: { metricName: "Replayed", dimensions: { operation: "create-order" } },
      executed: { metricName: "Executed", dimensions: { operation: "create-order" } },
    });
    expect(period.toSeconds()).toBe(60);
  });
});

describe("the dashboard of IdempotencyMonitoring", () => {
  it("is the main child, with a name if it is given one", () => {
    const { monitoring, template } = monitored({ dashboardName: "shop" });

    expect(monitoring.node.defaultChild).toBe(monitoring.dashboard);
    template().resourceCountIs("AWS::CloudWatch::Dashboard", 1);
    template().hasResourceProperties("AWS::CloudWatch::Dashboard", { DashboardName: "shop" });
    monitored()
      .template()
      .hasResourceProperties("AWS::CloudWatch::Dashboard", { DashboardName: Match.absent() });
  });

  it("shows the state of all alarms, and has no gap in a row", () => {
    const { monitoring, template } = monitored({ operations: ["create-order", "charge-payment"] });
    const widgets = widgetsIn(template());
    const widths = new Map<number, number>();
    for (const { y, width } of widgets) widths.set(y, (widths.get(y) ?? 0) + width);

    expect(widgets[0]).toMatchObject({
      type: "alarm",
      properties: { alarms: { length: monitoring.alarms.length } },
    });
    expect(new Set(widths.values())).toEqual(new Set([24]));
  });

  it("has a row for each operation that it is given", () => {
    const titles = widgetsIn(monitored({ operations: ["create-order"] }).template()).map(
      ({ properties }) => properties.title,
    );

    expect(titles.filter((title) => title?.startsWith("create-order: "))).toHaveLength(3);
    expect(
      widgetsIn(monitored().template()).some(({ properties }) => properties.title?.includes(": answers")),
    ).toBe(false);
  });

  it("has no row for a missing part", () => {
    const nobody = { relay: undefined, sweeper: undefined, reconciler: undefined };
    const none = { functions: [], ...nobody, deadLetterQueues: [], queues: [] };
    const titles = widgetsIn(monitored(none).template()).map(({ properties }) => properties.title);

    expect(
      titles.filter((title) => /queue|message|function|relay|outbox|unknown outcomes/i.test(title ?? "")),
    ).toEqual([]);
  });
});

describe("IdempotencyMonitoring", () => {
  it.each([
    ["service", { service: "" }, 'service of Test/Monitoring is ""'],
    ["service", { service: "Bücher" }, 'service of Test/Monitoring is "Bücher"'],
    ["namespace", { namespace: "AWS/Lambda" }, 'namespace of Test/Monitoring is "AWS/Lambda"'],
  ])("fails for a %s that CloudWatch doesn't accept", (_name, changes, message) => {
    expect(() => monitored(changes)).toThrow(message);
  });

  it("accepts names that are known at deployment only", () => {
    expect(() => monitored({ service: Token.asString({ Ref: "Service" }) })).not.toThrow();
  });

  it.each<[string, OutboxNames, OutboxNames, string]>([
    [
      "service",
      { service: "shop" },
      {},
      'service of Test/Again is "onceonly", but that of Test/Outbox is "shop"',
    ],
    [
      "service",
      {},
      { service: "shop" },
      'service of Test/Again is "shop", but that of Test/Outbox is "onceonly"',
    ],
    ["namespace", { namespace: "Shop" }, { namespace: "Shop2" }, 'namespace of Test/Again is "Shop2"'],
  ])("fails for another %s than that of the OutboxRelay it watches", (_, ofOutbox, own, message) => {
    expect(() => watchesOutbox(ofOutbox, own)).toThrow(message);
  });

  it.each<[string, OutboxNames]>([
    ["by default", {}],
    ["where both are given them", { service: "shop", namespace: "Shop" }],
    ["where they are known at deployment only", { service: Token.asString({ Ref: "Service" }) }],
  ])("has the names of the OutboxRelay it watches %s", (_, names) => {
    expect(() => watchesOutbox(names, names)).not.toThrow();
  });

  // `npm run synth` asks the same of the sample, which is monitored.
  it.runIf(isFull)("creates a template in which CloudFormation's rules find no fault", () => {
    const app = new App({
      analyticsReporting: false,
      context: { "@aws-cdk/core:validateAgainstDefaultRules": true },
    });
    monitored({ operations: ["create-order"], addReplayRateAlarm: { Warning: { threshold: 50 } } }, app);

    expect(() => app.synth()).not.toThrow();
  });
});

type OutboxNames = Pick<OutboxRelayProps, "service" | "namespace">;

function watchesOutbox(ofOutbox: OutboxNames, own: OutboxNames): void {
  const { stack, given } = monitored();
  const { table, queues } = given;
  const { relay } = new OutboxRelay(stack, "Outbox", { table, destinations: queues, ...ofOutbox });
  new IdempotencyMonitoring(stack, "Again", { table, relay, ...own });
}
