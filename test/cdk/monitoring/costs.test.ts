// docs/operate/costs.md counts what IdempotencyMonitoring makes, and multiplies it by list prices.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { IdempotencyMonitoringProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../../lib/contract.ts";
import { root } from "../../kit/project.ts";
import { alarmsIn, monitored } from "./given.ts";

const page = readFileSync(join(root, "docs/operate/costs.md"), "utf8");

function priceOf(name: string): number {
  const [, price] = new RegExp(`^\\| ${name} \\| \\$(\\S+) \\|`, "m").exec(page) ?? [];
  return Number(price);
}

const ALARM = priceOf("alarm, for each metric that it reads");
const dollars = (amount: number) => `$${amount.toFixed(2)}`;

function rowOf(label: string, changes: Partial<IdempotencyMonitoringProps>): string {
  const template = monitored(changes).template();
  const alarms = alarmsIn(template);
  const read = alarms.reduce((sum, { metrics }) => sum + metrics.length, 0);
  const composites = Object.keys(template.findResources("AWS::CloudWatch::CompositeAlarm")).length;
  const cost = read * ALARM + composites * priceOf("composite alarm") + priceOf("dashboard");
  return `| ${label} | ${alarms.length} | ${read} | ${composites} | ${dollars(cost)} |`;
}

describe("docs/operate/costs.md", () => {
  it.each<[string, Partial<IdempotencyMonitoringProps>]>([
    ['`alarms: "all"`, the default', {}],
    ["the same with `compositeAlarms: true`", { compositeAlarms: true }],
    ['`alarms: "critical"`', { alarms: "critical" }],
    ['`alarms: "none"`', { alarms: "none" }],
  ])("shows a stack's cost at rest with %s", (label, changes) => {
    expect(page).toContain(rowOf(label, changes));
  });

  it.each([1, 5, 20])("has the most that emfMetrics costs for %i operations", (operations) => {
    const { decisions, durations } = METRICS;
    // The age of what is in progress is the one besides.
    const each = Object.keys(decisions).length + Object.keys(durations).length + 1;
    const metrics = each * (operations + 1);
    const cost = dollars(metrics * priceOf("custom metric, of the first 10,000"));

    expect(page).toContain(`| ${operations} | ${metrics} | ${cost} |`);
  });
});
