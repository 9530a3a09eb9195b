// An alarm watches what a decision writes. Every alarm on metrics of emfMetrics is read from the template. What the engine
// or the relay then really decides must carry the alarm's namespace, its metric and exactly its dimensions.
import { beforeAll, describe, expect, it } from "vitest";
import { METRICS } from "../../../lib/contract.ts";
import { allDataPoints, type DataPoint, propertiesOf } from "../../observe/logs-world.ts";
import { observed } from "../../observe/world.ts";
import { ABOUT, SCENARIOS } from "./cases/scenarios.ts";
import {
  alarmsIn,
  type MetricIdentity,
  metricsOnDashboard,
  monitored,
  type SynthesizedAlarm,
} from "./given.ts";

const NAMES = { service: "shop", namespace: "Shop/Idempotency" };

const { decisions, durations, outboxEvents, outboxBacklog, settlingEvents, unsettled } = METRICS;
const ALL_NAMES = [decisions, durations, outboxEvents, outboxBacklog, settlingEvents, unsettled];
const SINGLE_NAMES: readonly string[] = [METRICS.outboxLag, METRICS.inProgressAge, METRICS.settlingTime];

let alarms: readonly SynthesizedAlarm[];
let dashboard: readonly MetricIdentity[];
const linesOf: Record<string, readonly string[]> = {};

beforeAll(async () => {
  // How many commits wait at any time is a question of the traffic.
  const addOutboxBacklogAlarm = { Warning: { threshold: 0 } };
  // How many are one caller's own fault, too.
  const addMismatchesAlarm = { Warning: { threshold: 0 } };
  const addInProgressAlarm = addMismatchesAlarm;
  const addNewKeysAlarm = addMismatchesAlarm;
  const asked = { addOutboxBacklogAlarm, addMismatchesAlarm, addInProgressAlarm, addNewKeysAlarm };
  const given = { ...NAMES, ...asked, operations: ["create-order"] };
  const template = monitored(given).template();
  alarms = alarmsIn(template).filter(({ metrics }) => metrics.some(({ namespace }) => !isOfAws(namespace)));
  dashboard = metricsOnDashboard(template).filter(({ namespace }) => !isOfAws(namespace));
  for (const [kind, play] of Object.entries(SCENARIOS)) {
    const world = observed(NAMES);
    await play(world);
    linesOf[kind] = world.lines;
  }
});

describe("the alarms of IdempotencyMonitoring", () => {
  it("each have a scenario, and each scenario an alarm", () => {
    expect([...new Set(alarms.map(({ kind }) => kind))].sort()).toEqual(Object.keys(SCENARIOS).sort());
  });

  it.each(Object.keys(SCENARIOS))("%s watches exactly what the decision writes", (kind) => {
    const decided = linesOf[kind]!.filter((line) => ABOUT[kind]!.includes(toldIn(line)));
    const watched = alarms.filter((alarm) => alarm.kind === kind).flatMap(({ metrics }) => metrics);

    expect(new Set(decided.map(toldIn))).toEqual(new Set(ABOUT[kind]));
    expect(watched.length).toBeGreaterThan(0);
    for (const metric of watched) expect(pointsOf(metric, allDataPoints(decided))).not.toEqual([]);
  });

  it.each(Object.keys(SCENARIOS))("%s is raised by the written data, in every severity", (kind) => {
    for (const alarm of alarms.filter((one) => one.kind === kind)) {
      expect(seenBy(alarm, allDataPoints(linesOf[kind]!))).toBeGreaterThan(alarm.threshold);
    }
  });

  it("H42: one is raised if a charge lost its response, its function was killed, and the key is held", async () => {
    const world = observed(NAMES);
    let charges = 0;
    const options = { whenAbandoned: "hold" as const };
    void world.start(() => {
      charges++;
      return new Promise(() => {});
    }, options);
    await world.clock.advance(60_000);

    for (let retry = 0; retry < 3; retry++) await world.call(() => charges++, options);
    const points = allDataPoints(world.lines);
    const raised = alarms.filter((alarm) => seenBy(alarm, points) > alarm.threshold);

    expect(charges).toBe(1);
    expect(raised.map(({ kind, severity }) => `${severity} ${kind}`)).toEqual(["Critical held"]);
    const held = { namespace: NAMES.namespace, name: decisions.held, dimensions: { service: NAMES.service } };
    expect(raised[0]?.metrics).toEqual([held]);
    // Each of the three refused callers reports it: the alarm stays raised.
    expect(pointsOf(held, points).map(({ value }) => value)).toEqual([1, 1, 1]);
  });

  it("stay silent for a first run whose message is sent immediately", async () => {
    const world = observed(NAMES);
    await world.commitMessage();
    await world.relay();
    const points = allDataPoints(world.lines);

    expect(points.map(({ name }) => name)).toContain("OutboxLag");
    for (const alarm of alarms) expect(seenBy(alarm, points)).toBeLessThanOrEqual(alarm.threshold);
  });
});

describe("the dashboard of IdempotencyMonitoring", () => {
  it("shows nothing that emfMetrics does not write, by service or by operation", () => {
    const names = ALL_NAMES.flatMap(Object.values);

    for (const { namespace, name, dimensions } of dashboard) {
      expect(namespace).toBe(NAMES.namespace);
      expect([...names, ...SINGLE_NAMES]).toContain(name);
      expect([{ service: "shop" }, { service: "shop", operation: "create-order" }]).toContainEqual(
        dimensions,
      );
    }
  });

  it("shows every metric that emfMetrics writes", () => {
    const names = ALL_NAMES.flatMap(Object.values);

    expect([...new Set(dashboard.map(({ name }) => name))].sort()).toEqual(
      [...names, ...SINGLE_NAMES].sort(),
    );
  });
});

function toldIn(line: string): string {
  const { decision, event } = propertiesOf(line);
  return String(decision ?? event);
}

/** What an alarm compares with its threshold. */
function seenBy({ metrics, properties }: SynthesizedAlarm, points: readonly DataPoint[]): number {
  const [first = [], second] = metrics.map((metric) => pointsOf(metric, points).map(({ value }) => value));
  // The only alarm over two metrics is the replay rate, of 20 answers or more.
  if (second) {
    const answers = sum(first) + sum(second);
    return answers >= 20 ? (100 * sum(first)) / answers : 0;
  }
  return properties.Statistic === "Maximum" ? Math.max(...first) : sum(first);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** What CloudWatch adds up for a metric: one with another set of dimensions is another metric. */
function pointsOf({ namespace, name, dimensions }: MetricIdentity, points: readonly DataPoint[]) {
  const identity = JSON.stringify([namespace, name, sorted(dimensions)]);
  return points.filter(
    (point) => JSON.stringify([point.namespace, point.name, sorted(point.dimensions)]) === identity,
  );
}

function sorted(dimensions: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(dimensions).sort(([left], [right]) => left.localeCompare(right));
}

function isOfAws(namespace: string): boolean {
  return namespace.startsWith("AWS/");
}
