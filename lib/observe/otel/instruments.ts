/** Counters and histograms for events of the engine, the outbox and the reconciler. Durations are in seconds. */
import type { Attributes, Meter } from "@opentelemetry/api";
import type { DecisionEvent } from "../../core/decisions.ts";
import { nameOf, type SendingEvent, type SettlingEvent } from "../measurements.ts";

/** https://opentelemetry.io/docs/specs/semconv/general/metrics: seconds, and units of counts in braces. */
const DURATION = {
  unit: "s",
  advice: {
    explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  },
};
const LAG = { unit: "s", advice: { explicitBucketBoundaries: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600] } };

export type Measure = (event: DecisionEvent | SendingEvent | SettlingEvent) => void;

export function instrumentsOf(meter: Meter): Measure {
  const decisions = meter.createCounter("onceonly.decisions", {
    description: "Decisions of the engine",
    unit: "{decision}",
  });
  const duration = meter.createHistogram("onceonly.call.duration", {
    description: "Duration of calls that were executed or replayed",
    ...DURATION,
  });
  const commits = meter.createCounter("onceonly.outbox.commits", {
    description: "Commits whose messages were sent, not sent, or parked",
    unit: "{commit}",
  });
  const lag = meter.createHistogram("onceonly.outbox.lag", {
    description: "Time from a commit to the end of an attempt to send its messages",
    ...LAG,
  });
  const waiting = meter.createGauge("onceonly.outbox.backlog", {
    description: "Commits whose messages are waiting or parked",
    unit: "{commit}",
  });
  const oldest = meter.createGauge("onceonly.outbox.backlog.age", {
    description: "Age of the oldest waiting commit",
    unit: "s",
  });
  const settled = meter.createCounter("onceonly.unknown_outcomes.settled", {
    description: "Keys with an unknown outcome, by what the reconciler found out",
    unit: "{key}",
  });
  const unsettled = meter.createGauge("onceonly.unknown_outcomes", {
    description: "Keys with an unknown outcome left over after a run of the reconciler",
    unit: "{key}",
  });
  return function measure(event) {
    if ("decision" in event) {
      const attributes = attributesOf(event.operation, event.error, { "onceonly.decision": event.decision });
      decisions.add(1, attributes);
      if (event.decision === "executed" || event.decision === "replayed")
        duration.record(event.durationMs / 1000, attributes);
      return;
    }
    if (event.event === "send") return;
    if (event.event === "backlog") {
      waiting.record(event.waiting, { "onceonly.state": "waiting" });
      waiting.record(event.parked, { "onceonly.state": "parked" });
      oldest.record(event.oldestMs / 1000);
      return;
    }
    if (event.event === "unsettled") return unsettled.record(event.keys);
    if (event.event === "cache-checked") return;
    const attributes = attributesOf(event.operation, event.error, { "onceonly.event": event.event });
    if ("unknownMs" in event) return settled.add(1, attributes);
    commits.add(1, attributes);
    lag.record(event.lagMs / 1000, attributes);
  };
}

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/error: identifies an error by its name. */
export function attributesOf(operation: string, error: unknown, more: Attributes): Attributes {
  const name = nameOf(error);
  return { "onceonly.operation": operation, ...more, ...(name !== undefined && { "error.type": name }) };
}
