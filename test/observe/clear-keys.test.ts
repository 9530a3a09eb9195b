// Keys in lines and spans: hashed, unless somebody asks for them, and never in metrics.
import { inspect } from "node:util";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type DecisionEvent, decisionLog, emfMetrics, idempotentBatch, runOnce } from "onceonly";
import { openTelemetry } from "onceonly/otel";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";

const KEY = "order-canary-4711";
const PAYLOAD = { card: "canary-card" };

/** An execution, a replay and a mismatch, each reported to `observe`. */
async function decide(observe: (event: DecisionEvent) => void): Promise<void> {
  const clock = fakeClock();
  const store = new MemoryStore();
  const options = { operation: "pay", scope: "acme", store, clock, leaseSeconds: 30, observe };
  for (const payload of [PAYLOAD, PAYLOAD, {}])
    await runOnce(options, KEY, payload, () => PAYLOAD).catch(() => {});
}

function linesOf(options: Parameters<typeof decisionLog>[0]) {
  const lines: Record<string, unknown>[] = [];
  const take = (_: string, fields: Record<string, unknown>) => void lines.push(fields);
  return { lines, log: decisionLog({ logger: { info: take, warn: take, error: take }, ...options }) };
}

function telemetryOf(options: Parameters<typeof openTelemetry>[0]) {
  const spans = new InMemorySpanExporter();
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("t");
  const { observe } = openTelemetry({ tracer: tracers.getTracer("t"), meter, ...options });
  return {
    observe,
    keys: () => spans.getFinishedSpans().map(({ attributes }) => attributes["onceonly.key"]),
    spans: () => JSON.stringify(spans.getFinishedSpans().map(({ name, attributes }) => [name, attributes])),
    async metrics() {
      await reader.forceFlush();
      return JSON.stringify(points.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics));
    },
  };
}

describe("a key that isn't requested", () => {
  it("H38: is in no JSON, no copy and no printed form of what observers get", async () => {
    const events: DecisionEvent[] = [];
    await decide((event) => events.push(event));
    const shown = events.flatMap((event) => [
      JSON.stringify(event),
      JSON.stringify({ ...event }),
      JSON.stringify(Object.fromEntries(Object.entries(event))),
      JSON.stringify(structuredClone(event)),
      inspect(event),
    ]);

    expect(events.map(({ decision, key }) => [decision, key])).toEqual([
      ["executed", KEY],
      ["replayed", KEY],
      ["mismatch", KEY],
    ]);
    expect(shown).toHaveLength(15);
    expect(shown.join()).not.toContain("canary");
  });

  it.each([[{}], [{ keys: "hashed" }], [{ keys: undefined }]] as const)(
    "H38: is in no line and no span with %j",
    async (options) => {
      const { lines, log } = linesOf(options as never);
      const telemetry = telemetryOf(options as never);
      await decide((event) => {
        log(event);
        telemetry.observe(event);
      });

      expect(lines.map(({ keyHash }) => keyHash)).toEqual(
        Array(3).fill(expect.stringMatching(/^[\w-]{43}$/)),
      );
      expect(telemetry.spans()).toContain("onceonly.key_hash");
      expect(JSON.stringify([lines, telemetry.spans()])).not.toContain("canary");
    },
  );
});

describe('a key that is asked for by `keys: "clear"`', () => {
  it("H38: is in lines and spans next to its hash, and payload and result are not", async () => {
    const { lines, log } = linesOf({ keys: "clear" });
    const telemetry = telemetryOf({ keys: "clear" });
    await decide((event) => {
      log(event);
      telemetry.observe(event);
    });

    expect(lines.map(({ key }) => key)).toEqual([KEY, KEY, KEY]);
    expect(telemetry.keys()).toEqual([KEY, KEY, KEY]);
    expect(lines.every(({ keyHash }) => keyHash !== undefined)).toBe(true);
    expect(JSON.stringify([lines, telemetry.spans()])).not.toContain("canary-card");
  });

  it("H38: is in no metric, because each key would be a separate time series", async () => {
    const telemetry = telemetryOf({ keys: "clear", scope: "clear" });
    const lines: string[] = [];
    const emf = emfMetrics({ write: (line) => lines.push(line) });
    await decide((event) => {
      telemetry.observe(event);
      emf(event);
    });

    expect(await telemetry.metrics()).toContain("onceonly.decisions");
    expect(await telemetry.metrics()).not.toMatch(/canary|acme/);
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toMatch(/canary|acme/);
    expect(() => emfMetrics({ keys: "clear" } as never)).toThrow(/`keys` isn't an option/);
  });

  it("is also reported for a batch's records, with a name of the source in its place, and for their duplicates", async () => {
    const { lines, log } = linesOf({ keys: "clear", scope: "clear" });
    const record = { messageId: KEY, body: "{}", eventSource: "aws:sqs", receiptHandle: "r", attributes: {} };
    const handler = idempotentBatch(() => {}, {
      operation: "ship",
      store: new MemoryStore(),
      clock: fakeClock(),
      scope: () => "acme",
      observe: log,
    } as never);
    const Records = [record, record];
    await handler({ Records } as never, fakeLambdaContext({ clock: fakeClock() }) as never);

    expect(lines.map(({ decision, key, scope }) => [decision, key, scope])).toEqual([
      ["key-fallback", KEY, "acme"],
      ["executed", KEY, "acme"],
      ["key-fallback", KEY, "acme"],
      ["replayed", KEY, "acme"],
    ]);
  });

  it("is left out if a call has none", async () => {
    const { lines, log } = linesOf({ keys: "clear" });
    log({ decision: "key-missing", operation: "pay", durationMs: 0 });

    expect(lines).toEqual([{ decision: "key-missing", operation: "pay", durationMs: 0 }]);
  });
});
