// docs/operate/runbook.md has a section for each alarm, and no section that nothing links to.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEFAULT_THRESHOLDS } from "../../../lib/cdk/monitoring/alarms.ts";
import { METRICS } from "../../../lib/contract.ts";
import { alarmsIn, monitored } from "./given.ts";

const runbook = readFileSync(new URL("../../../docs/operate/runbook.md", import.meta.url), "utf8");
const [, ...parts] = runbook.split(/^## /m);
const sections = new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));

const band = { Warning: { threshold: 3 } };
const alarms = alarmsIn(
  monitored({ addReplaySpikeAlarm: band, addMismatchSpikeAlarm: band, addNewKeysAlarm: band }).template(),
);

describe("docs/operate/runbook.md", () => {
  it("has a section for every alarm, and an alarm for every section", () => {
    const linked = new Set(alarms.map(({ kind }) => kind));

    expect(linked.size).toBe(Object.keys(DEFAULT_THRESHOLDS).length);
    expect([...sections.keys()]).toEqual(Object.keys(DEFAULT_THRESHOLDS));
    expect([...sections.keys()].sort()).toEqual([...linked].sort());
  });

  it.each([...sections])("says what %s means, what to look at and what to do", (_name, section) => {
    const starts = section
      .trim()
      .split(/\n\n/)
      .flatMap((paragraph) => /^What [a-z ]+:/.exec(paragraph)?.[0] ?? []);

    expect(starts).toEqual(["What it means:", "What to look at:", "What to do:"]);
  });

  it("names metrics and other alarms as they are called", () => {
    const { decisions, durations, outboxEvents, outboxBacklog, settlingEvents, unsettled } = METRICS;
    const named = [decisions, durations, outboxEvents, outboxBacklog, settlingEvents, unsettled];
    const metrics: string[] = [METRICS.settlingTime, ...named.flatMap(Object.values)];
    const quoted = [...runbook.matchAll(/`([A-Z][a-zA-Z]+)`/g)].map(([, name]) => name!);
    const likeMetrics = quoted.filter((name) =>
      /^(Executed|Replayed|Key|Store|Clock|Outbox|Settl|Unsettled)/.test(name),
    );
    const seen = [...runbook.matchAll(/\((?:see|as for) ([\w-]+)\)/g)].map(([, name]) => name);

    expect(likeMetrics.filter((name) => !name.endsWith("Error") && !metrics.includes(name))).toEqual([]);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((name) => !sections.has(name!))).toEqual([]);
  });
});
