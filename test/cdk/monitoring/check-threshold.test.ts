import { Token } from "aws-cdk-lib";
import { describe, expect, it } from "vitest";
import type { AlarmKind } from "../../../lib/cdk/monitoring/alarms.ts";
import { checkThreshold } from "../../../lib/cdk/monitoring/check-threshold.ts";

const check = (kind: AlarmKind, threshold: number) => () => checkThreshold(kind, threshold, "It");

describe("a threshold", () => {
  it.each<[AlarmKind, number, string]>([
    ["held", Number.NaN, "It is NaN: use a finite number"],
    ["held", Number.POSITIVE_INFINITY, "use a finite number"],
    ["outbox-age", -0.5, "always fire: use 0 or more"],
    ["mismatch-spike", 0, "the band would have no width"],
    ["replay-rate", 0.8, "It is 0.8: it's a percentage, not a fraction: did you mean 80?"],
    ["work-near-lease", 0.07, "did you mean 7?"],
    ["work-near-lease", 120, "never fire: use less than 100"],
    ["dead-letter-age", 86_400_000, "it's in seconds"],
    ["relay-iterator-age", 86_400_000, "keeps 24 hours"],
  ])("B12, B14: of %s is refused at %d: %s", (kind, threshold, message) => {
    expect(check(kind, threshold)).toThrow(message);
  });

  it.each<[AlarmKind, number]>([
    ["held", 0],
    ["mismatches", 0.5],
    ["replay-spike", 0.5],
    ["replay-rate", 0],
    ["replay-rate", 1],
    ["replay-rate", 99.5],
    ["outbox-age", 86_400_000],
    ["dead-letter-age", 1_209_599],
    ["replay-rate", Token.asNumber({ Ref: "Rate" })],
  ])("B12, B14: of %s is accepted at %d", (kind, threshold) => {
    expect(check(kind, threshold)).not.toThrow();
  });
});
