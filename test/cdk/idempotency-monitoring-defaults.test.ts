// What the TSDoc of the properties says is what happens.
import { readFileSync } from "node:fs";
import { Duration } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import {
  type AlarmKind,
  DEFAULT_EVALUATION,
  DEFAULT_RUNBOOK_URL,
  DEFAULT_THRESHOLDS,
  THRESHOLD_PROPERTIES,
} from "../../lib/cdk/idempotency-monitoring-alarms.ts";
import { METRICS } from "../../lib/contract.ts";
import { alarmsIn, monitored } from "./idempotency-monitoring-given.ts";

const kinds = Object.keys(DEFAULT_THRESHOLDS) as AlarmKind[];

/** The `@default` of each optional property of a file, by interface and property. */
function documentedIn(file: string): Record<string, string | undefined> {
  const source = readFileSync(new URL(`../../lib/cdk/${file}.ts`, import.meta.url), "utf8");
  return Object.fromEntries(
    source.split(/^export interface /m).flatMap((part) => {
      const [name] = part.split(/\W/, 1);
      const properties = part.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\s+readonly (\w+)\?:/g);
      return [...properties].map(([, doc = "", property]) => [
        `${name}.${property}`,
        /@default (.+)/.exec(doc)?.[1],
      ]);
    }),
  );
}

function optionalIn(file: string): string[] {
  const source = readFileSync(new URL(`../../lib/cdk/${file}.ts`, import.meta.url), "utf8");
  return [...source.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name!);
}

/** As source has it: `{ Warning: { threshold: 0 } }`. */
function written(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, inner]) => `${name}: ${written(inner)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

const thresholds = documentedIn("idempotency-monitoring-thresholds");
const props = documentedIn("idempotency-monitoring-props");

describe("the properties of IdempotencyMonitoring", () => {
  it.each(kinds)("documents the default thresholds of %s", (kind) => {
    expect(thresholds[`IdempotencyAlarmProps.${THRESHOLD_PROPERTIES[kind]}`]).toBe(
      written(DEFAULT_THRESHOLDS[kind]),
    );
  });

  it("has a property for the thresholds of every alarm and no other", () => {
    const properties = Object.keys(thresholds).filter((name) => name.startsWith("IdempotencyAlarmProps."));

    expect(properties).toEqual(kinds.map((kind) => `IdempotencyAlarmProps.${THRESHOLD_PROPERTIES[kind]}`));
  });

  it("documents what a threshold leaves open", () => {
    expect(thresholds).toMatchObject({
      "AlarmThreshold.evaluationPeriods": String(DEFAULT_EVALUATION.evaluationPeriods),
      "AlarmThreshold.period": `Duration.minutes(${DEFAULT_EVALUATION.periodMinutes})`,
    });
  });

  it("documents the names that it shares with emfMetrics, and where the runbook is", () => {
    expect(props).toMatchObject({
      "IdempotencyMonitoringProps.service": written(METRICS.service),
      "IdempotencyMonitoringProps.namespace": written(METRICS.namespace),
      "IdempotencyMonitoringProps.runbookUrl": written(DEFAULT_RUNBOOK_URL),
    });
  });

  it.each([
    ["idempotency-monitoring-props", props],
    ["idempotency-monitoring-thresholds", thresholds],
  ])("documents a default of every optional property of %s", (file, documented) => {
    expect(Object.keys(documented).map((name) => name.split(".")[1])).toEqual(optionalIn(file));
    expect(Object.values(documented)).not.toContain(undefined);
  });

  it("makes the alarms that the defaults say, and no others", () => {
    const alarms = alarmsIn(monitored({ functions: [], sweeper: undefined }).template());
    const made = alarms.map(({ kind, severity, threshold, properties }) => [
      kind,
      severity,
      threshold,
      properties.EvaluationPeriods,
      (properties.Period as number | undefined) ?? periodIn(properties),
    ]);
    const minutes = Duration.minutes(DEFAULT_EVALUATION.periodMinutes).toSeconds();

    expect(made.sort(byText)).toEqual(
      kinds
        .flatMap((kind) =>
          Object.entries(DEFAULT_THRESHOLDS[kind]).map(([severity, { threshold, evaluationPeriods }]) => [
            kind,
            severity,
            threshold,
            evaluationPeriods ?? DEFAULT_EVALUATION.evaluationPeriods,
            minutes,
          ]),
        )
        .sort(byText),
    );
  });
});

function periodIn({ Metrics }: Readonly<Record<string, unknown>>): number | undefined {
  return (Metrics as { MetricStat?: { Period: number } }[]).find(({ MetricStat }) => MetricStat)?.MetricStat
    ?.Period;
}

function byText(left: readonly unknown[], right: readonly unknown[]): number {
  return left.join().localeCompare(right.join());
}
