import { type DecisionEvent, emfMetrics, runOnce } from "onceonly";
import { OUTBOX_EVENTS } from "onceonly/messaging";
import { RECONCILER_EVENTS } from "onceonly/reconciler";
import { DECISIONS } from "onceonly/store-kit";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../lib/contract.ts";
import { identify } from "../../lib/core/identity.ts";
import { allDataPoints, dataPointsOf, propertiesOf } from "./logs-world.ts";
import { observed } from "./world.ts";

const DECIDED: DecisionEvent = { decision: "executed", operation: "create-order", durationMs: 12 };

function linesOf(...events: Parameters<ReturnType<typeof emfMetrics>>[0][]): string[] {
  const lines: string[] = [];
  const observe = emfMetrics({ write: (line) => lines.push(line), clock: { now: () => 1_700_000_000_000 } });
  for (const event of events) observe(event);
  return lines;
}

const lineOf = (event: Parameters<typeof linesOf>[0]): string => linesOf(event)[0]!;

describe("METRICS", () => {
  it("names a metric for every decision and every event of the outbox, and no two the same", () => {
    const names = [
      ...Object.values(METRICS.decisions),
      ...Object.values(METRICS.durations),
      ...Object.values(METRICS.outboxEvents),
      METRICS.outboxLag,
      ...Object.values(METRICS.outboxBacklog),
      METRICS.inProgressAge,
      ...Object.values(METRICS.settlingEvents),
      METRICS.settlingTime,
      ...Object.values(METRICS.unsettled),
    ];

    expect(Object.keys(METRICS.decisions)).toEqual([...DECISIONS]);
    expect(Object.keys(METRICS.outboxEvents)).toEqual([...OUTBOX_EVENTS]);
    expect(Object.keys(METRICS.settlingEvents)).toEqual([...RECONCILER_EVENTS]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("emfMetrics", () => {
  it.each(DECISIONS)("counts %s by service, and by service and operation", (decision) => {
    const points = dataPointsOf(lineOf({ ...DECIDED, decision }));

    expect(points.filter(({ name }) => name === METRICS.decisions[decision])).toEqual(
      [{ service: "onceonly" }, { service: "onceonly", operation: "create-order" }].map((dimensions) => ({
        namespace: "Onceonly",
        name: METRICS.decisions[decision],
        dimensions,
        unit: "Count",
        value: 1,
      })),
    );
  });

  it("measures executions and replays in milliseconds, and how long the others took", () => {
    const measured = DECISIONS.flatMap((decision) =>
      dataPointsOf(lineOf({ ...DECIDED, decision })).filter(({ unit }) => unit === "Milliseconds"),
    );

    expect(new Set(measured.map(({ name }) => name))).toEqual(
      new Set(["ExecutedDuration", "ReplayedDuration"]),
    );
    expect(measured.every(({ value }) => value === 12)).toBe(true);
    expect(propertiesOf(lineOf({ ...DECIDED, decision: "mismatch" }))).toMatchObject({ durationMs: 12 });
  });

  it("measures how long a key is in progress, but not a held key, which no attempt is working on", () => {
    const agesOf = (decision: DecisionEvent["decision"]) =>
      dataPointsOf(lineOf({ ...DECIDED, decision, ageMs: 61_000 }))
        .filter(({ name }) => name === METRICS.inProgressAge)
        .map(({ unit, value }) => [unit, value]);

    expect(agesOf("in-progress")).toEqual([
      ["Milliseconds", 61_000],
      ["Milliseconds", 61_000],
    ]);
    expect(agesOf("held")).toEqual([]);
  });

  it.each(RECONCILER_EVENTS)(
    "counts keys that the reconciler reports as %s, and how long settling took",
    (event) => {
      const key = { event, operation: "pay#order", keyHash: "hash", unknownMs: 65_000 } as const;
      const line = lineOf({ ...key, error: new TypeError("card canary-5f2e") });
      const points = dataPointsOf(line).filter(({ dimensions }) => "operation" in dimensions);
      const isSettled = event === "happened" || event === "did-not-happen";
      const dimensions = { service: "onceonly", operation: "pay%23order" };

      expect(points.map(({ name, value, dimensions }) => ({ name, value, dimensions }))).toEqual([
        { name: METRICS.settlingEvents[event], value: 1, dimensions },
        ...(isSettled ? [{ name: "SettlingTime", value: 65_000, dimensions }] : []),
      ]);
      const reported = {
        event,
        by: "reconciler",
        keyHash: "hash",
        unknownMs: 65_000,
        errorName: "TypeError",
      };
      expect(propertiesOf(line)).toMatchObject(reported);
      expect(line).not.toContain("canary");
    },
  );

  it("counts keys whose operation cannot be read as those of an unknown one", () => {
    const line = lineOf({ event: "unasked", operation: "", keyHash: "", unknownMs: 0 });

    expect(dataPointsOf(line)).toContainEqual(
      expect.objectContaining({ dimensions: { service: "onceonly", operation: "unknown" } }),
    );
  });

  it("measures the reconciler's backlog, by service only", () => {
    const line = lineOf({ event: "unsettled", keys: 3, unasked: 1, oldestMs: 61_000 });

    expect(dataPointsOf(line).map(({ name, value, dimensions }) => [name, value, dimensions])).toEqual([
      ["UnsettledKeys", 3, { service: "onceonly" }],
      ["UnsettledUnaskedKeys", 1, { service: "onceonly" }],
      ["UnsettledAge", 61_000, { service: "onceonly" }],
    ]);
  });

  it.each(OUTBOX_EVENTS)("counts commits of which messages were %s, and their lag", (event) => {
    const sending = { event, by: "relay", operation: "create-order", keyHash: "hash" } as const;
    const points = dataPointsOf(lineOf({ ...sending, messages: 3, lagMs: 61_000 }));

    expect(points.map(({ name, unit, value }) => [name, unit, value])).toEqual([
      [METRICS.outboxEvents[event], "Count", 1],
      ["OutboxLag", "Milliseconds", 61_000],
      [METRICS.outboxEvents[event], "Count", 1],
      ["OutboxLag", "Milliseconds", 61_000],
    ]);
  });

  it("measures a sweep's findings by service only", () => {
    const found = { event: "backlog", by: "sweeper", waiting: 3, oldestMs: 61_000, parked: 2 } as const;
    const points = dataPointsOf(lineOf(found));

    expect(points.map(({ name, unit, value, dimensions }) => [name, unit, value, dimensions])).toEqual([
      ["OutboxBacklog", "Count", 3, { service: "onceonly" }],
      ["OutboxBacklogAge", "Milliseconds", 61_000, { service: "onceonly" }],
      ["OutboxParkedBacklog", "Count", 2, { service: "onceonly" }],
    ]);
    expect(propertiesOf(lineOf(found))).toEqual({ service: "onceonly", event: "backlog", by: "sweeper" });
  });

  it("gives each line its clock's time, and the configured names", () => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line);
    emfMetrics({ service: "shop", namespace: "Shop/Orders", write, clock: { now: () => 1234.5 } })(DECIDED);

    expect(JSON.parse(lines[0]!)._aws.Timestamp).toBe(1234);
    expect(dataPointsOf(lines[0]!)[0]).toMatchObject({
      namespace: "Shop/Orders",
      dimensions: { service: "shop" },
    });
  });

  it("creates as few metrics for a thousand keys as for one", async () => {
    const world = observed();
    for (let number = 0; number < 1000; number++) {
      await world.call(() => number, {}, number, `key-${number}`);
    }

    const metrics = allDataPoints(world.lines).map(({ name, dimensions }) =>
      JSON.stringify([name, dimensions]),
    );
    // Executed and its duration, by service and by operation.
    expect(metrics).toHaveLength(4000);
    expect(new Set(metrics).size).toBe(4);
  });

  it.each(["a#b", "100%", "naïve", "注文", "🍵", "tab\there", "  "])(
    "names operation %j to CloudWatch in ASCII, for decisions as for messages",
    (operation) => {
      const { keyHash, recordKey } = identify(operation, "", "key-1");
      const [ofRecord = ""] = recordKey.split("#");
      const sending = { event: "sent", by: "relay", keyHash, messages: 1, lagMs: 0 } as const;
      const operations = linesOf({ ...DECIDED, operation }, { ...sending, operation: ofRecord }).map(
        (line) => dataPointsOf(line).find(({ dimensions }) => dimensions.operation)?.dimensions.operation,
      );

      expect(decodeURIComponent(operations[0]!)).toBe(operation);
      expect(operations[1]).toBe(operations[0]);
    },
  );

  it("counts a change without an operation", () => {
    const sending = { event: "send-failed", by: "relay", keyHash: "", messages: 0, lagMs: 0 } as const;

    expect(dataPointsOf(lineOf({ ...sending, operation: "" })).at(-1)?.dimensions.operation).toBe("unknown");
  });

  it("reports an error by its name, as long as that is a name", () => {
    const errors = [
      new TypeError("secret"),
      Object.assign(new Error("x"), { name: "secret of bob" }),
      { name: "secret" },
      "secret",
      undefined,
    ];
    const lines = linesOf(...errors.map((error) => ({ ...DECIDED, error })));

    expect(lines.map((line) => propertiesOf(line).errorName)).toEqual([
      "TypeError",
      "Error",
      "object",
      "string",
      undefined,
    ]);
    expect(lines.join()).not.toContain("secret");
  });

  it("H38: writes no key, payload, result, or message of an error", async () => {
    const world = observed();
    const secret = "s3cr3t";
    const options = { scope: `tenant-${secret}` };
    await world.call(() => ({ [secret]: secret }), options, { secret }, secret);
    await world.call(() => "again", options, { secret }, secret);
    await world.call(() => "again", options, { secret: 2 }, secret);
    await world.call(() => Promise.reject(new Error(secret)), options, { secret }, `${secret}-2`);
    await world.commitMessage(`${secret}-3`, options);
    world.bus.faultOf = () => ({ Code: secret, SenderFault: true });
    await world.relay();

    const events = world.lines.map((line) => {
      const { decision, event } = propertiesOf(line);
      return decision ?? event;
    });
    expect(events).toEqual(["executed", "replayed", "mismatch", "released", "executed", "send-failed"]);
    expect(world.lines.join()).not.toContain(secret);
    for (const line of world.lines) expect(propertiesOf(line)).toMatchObject({ keyHash: expect.any(String) });
  });

  it("counts the sweeper's messages, too", async () => {
    const world = observed();
    await world.commitMessage();
    await world.clock.advance(90_000);
    await world.sweep();

    const [sent, found] = world.lines.slice(-2);
    expect(propertiesOf(sent!)).toMatchObject({ event: "sent", by: "sweeper" });
    expect(dataPointsOf(sent!)).toContainEqual(expect.objectContaining({ name: "OutboxLag", value: 90_000 }));
    expect(dataPointsOf(found!)).toContainEqual(expect.objectContaining({ name: "OutboxBacklog", value: 0 }));
  });

  it("changes no outcome when it cannot write", async () => {
    const observe = emfMetrics({
      write: () => {
        throw new Error("the disk is full");
      },
    });
    const options = { operation: "create-order", store: new MemoryStore(), leaseSeconds: 30, observe };

    expect(await runOnce(options, "key-1", {}, () => "created")).toBe("created");
  });
});
