// What the observer records of single events, without engines.
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
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
import { runOnce } from "onceonly";
import { openTelemetry } from "onceonly/otel";
import { DECISIONS } from "onceonly/store-kit";
import { cached } from "onceonly/stores";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Originals } from "../../../lib/observe/otel/linked-store.ts";
import { tokenWithTrace, traceOfToken } from "../../../lib/observe/otel/trace-token.ts";

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  context.disable();
});

function given() {
  const exporter = new InMemorySpanExporter();
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer(
    "t",
  );
  const meter = new MeterProvider({ readers: [reader] }).getMeter("t");
  const clock = fakeClock();
  const telemetry = openTelemetry({ tracer, meter, clock });
  const options = { operation: "pay", store: telemetry.linked(new MemoryStore()), clock, leaseSeconds: 30 };
  const values = async () => {
    await reader.forceFlush();
    const metrics =
      points
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    return Object.fromEntries(
      metrics.map(({ descriptor, dataPoints }) => [
        `${descriptor.name} ${descriptor.unit}`,
        dataPoints.map(({ value }) => (typeof value === "number" ? value : value.sum)),
      ]),
    );
  };
  return { telemetry, tracer, clock, options, spans: () => exporter.getFinishedSpans(), values };
}

describe("openTelemetry", () => {
  it("puts a decision under its caller if no span is active, for as long as the call lasted", () => {
    const { telemetry, spans, clock } = given();
    telemetry.observe({ decision: "executed", operation: "pay", durationMs: 1500, traceparent: TRACE });
    const [span] = spans();

    expect(span!.spanContext().traceId).toBe(TRACE.split("-")[1]);
    expect(span!.parentSpanContext?.spanId).toBe(TRACE.split("-")[2]);
    expect(span!.links).toEqual([]);
    expect([span!.startTime, span!.endTime].map(([s, ns]) => s * 1000 + ns / 1e6)).toEqual([
      clock.now() - 1500,
      clock.now(),
    ]);
  });

  it("begins a trace if there is neither, and passes no trace on", () => {
    const { telemetry, spans } = given();
    telemetry.observe({ decision: "mismatch", operation: "pay", durationMs: 0, traceparent: "00-malformed" });

    expect(spans()[0]!.parentSpanContext).toBeUndefined();
    expect(telemetry.options.traceparent()).toBeUndefined();
    expect(telemetry.options.random.token()).not.toContain("~");
    expect(telemetry.options.random.fraction()).toBeLessThan(1);
  });

  it("reports each decision as a span, and an error by its name", () => {
    const { telemetry, spans } = given();
    const error = new RangeError("canary-1");
    for (const decision of DECISIONS) telemetry.observe({ decision, operation: "pay", durationMs: 1, error });

    expect(spans().map(({ name }) => name)).toEqual(DECISIONS.map((decision) => `pay ${decision}`));
    expect(new Set(spans().map(({ attributes }) => attributes["error.type"]))).toEqual(
      new Set(["RangeError"]),
    );
    expect(JSON.stringify(spans().map(({ attributes, events }) => [attributes, events]))).not.toContain(
      "canary",
    );
  });

  it("measures the reports of relay, sweeper and reconciler, in seconds", async () => {
    const { telemetry, values, spans } = given();
    const commit = { by: "relay", operation: "pay", keyHash: "h", messages: 2, lagMs: 250 } as const;
    telemetry.observe({ event: "sent", ...commit });
    telemetry.observe({ event: "backlog", by: "sweeper", waiting: 3, oldestMs: 90_000, parked: 1 });
    telemetry.observe({ event: "happened", operation: "pay", keyHash: "h", unknownMs: 1000 });
    telemetry.observe({ event: "unsettled", keys: 4, unasked: 0, oldestMs: 10 });
    telemetry.observe({ event: "cache-checked", failed: false, confirmed: 1, dropped: 0, unchecked: 0 });

    expect(await values()).toEqual({
      "onceonly.outbox.commits {commit}": [1],
      "onceonly.outbox.lag s": [0.25],
      "onceonly.outbox.backlog {commit}": [3, 1],
      "onceonly.outbox.backlog.age s": [90],
      "onceonly.unknown_outcomes.settled {key}": [1],
      "onceonly.unknown_outcomes {key}": [4],
    });
    expect(spans()).toEqual([]);
  });

  it.each(["claimed", "optimistic"] as const)(
    "links the replays of a call that was %s, a cached one too",
    async (mode) => {
      const { telemetry, tracer, options, spans } = given();
      const first = tracer.startSpan("first", { root: true });
      const call = { ...options, mode, store: cached(options.store), ...telemetry.options };
      await context.with(trace.setSpan(ROOT_CONTEXT, first), () => runOnce(call, "k", {}, () => "paid"));
      await runOnce(call, "k", {}, () => expect.unreachable());
      await runOnce(call, "k", {}, () => expect.unreachable());
      const replays = spans().filter(({ name }) => name === "pay replayed");

      expect(replays.flatMap(({ links }) => links.map(({ context: { spanId } }) => spanId))).toEqual([
        first.spanContext().spanId,
        first.spanContext().spanId,
      ]);
    },
  );

  it("links nothing if the original had no trace, or another instance made it", async () => {
    const { telemetry, options, spans } = given();
    await runOnce(options, "k", {}, () => "paid");
    await runOnce({ ...options, ...telemetry.options }, "k", {}, () => expect.unreachable());

    expect(spans().map(({ links }) => links)).toEqual([[]]);
  });

  it.each([
    [{ tracer: {} }, "tracer"],
    [{ meter: { createCounter() {} } }, "meter"],
    [{ scope: "plain" }, "scope"],
    [{ keys: "left-out" }, "keys"],
  ])("rejects %j immediately", (options, name) => {
    expect(() => openTelemetry(options as never)).toThrow(name);
  });

  it("rejects anything but a store", () => {
    expect(() => openTelemetry().linked({} as never)).toThrow("store");
  });
});

describe("tokens with a trace", () => {
  it("keep it, within 56 bytes, and a token without one has none", () => {
    const token = tokenWithTrace("token", TRACE);

    expect([traceOfToken(token), token.length]).toEqual([TRACE, "token".length + 56]);
    expect(traceOfToken(tokenWithTrace("token", undefined))).toBeUndefined();
  });

  it("are remembered for the last thousand keys", () => {
    const originals = new Originals();
    for (let key = 0; key <= 1000; key++) originals.note(`pay##${key}`, tokenWithTrace("t", TRACE));
    originals.note("pay##1000", "without");

    expect([originals.of("0"), originals.of("1"), originals.of("1000"), originals.of(undefined)]).toEqual([
      undefined,
      TRACE,
      undefined,
      undefined,
    ]);
  });
});
