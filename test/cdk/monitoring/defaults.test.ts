// The alarms that come without a word about them are those of DEFAULT_THRESHOLDS, which their documents state.
import { Duration } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import {
  type AlarmKind,
  DEFAULT_EVALUATION,
  DEFAULT_THRESHOLDS,
} from "../../../lib/cdk/monitoring/alarms.ts";
import { alarmsIn, monitored } from "./given.ts";

const kinds = Object.keys(DEFAULT_THRESHOLDS) as AlarmKind[];

describe("IdempotencyMonitoring", () => {
  it("creates the alarms that its defaults list, and no others", () => {
    const alarms = alarmsIn(monitored({ functions: [], sweeper: undefined }).template());
    const made = alarms.map(({ kind, severity, threshold, properties }) => [
      kind,
      severity,
      threshold,
      properties.EvaluationPeriods,
      (properties.Period as number | undefined) ?? periodIn(properties),
    ]);
    const minutes = Duration.minutes(DEFAULT_EVALUATION.periodMinutes).toSeconds();

    // The relay and the reconciler are functions: each has an alarm on its errors.
    const [errors] = made.filter(([kind]) => kind === "function-errors");
    const once = [errors, ...made.filter(([kind]) => kind !== "function-errors")];
    expect(once.sort((left, right) => byText(left ?? [], right ?? []))).toEqual(
      kinds
        // There are no functions whose timeouts it could watch.
        .filter((kind) => kind !== "work-near-lease")
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
