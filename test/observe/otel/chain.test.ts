// One request through the whole chain, and again: its trace, its metrics, and what none of them may show.
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { connect } from "../../kit/tables.ts";
import { type ChainWorld, newChainWorld } from "./chain-world.ts";

const SECRET = "canary-2718";
const KEY = `key-${SECRET}`;
/** As SQS names a queue that is not there. */
const GONE = "QueueDoesNotExist";

const { endpoint } = inject("dynamodbEngines")[0]!;
const dynamodb = connect(endpoint);
let world: ChainWorld;

beforeAll(async () => {
  world = await newChainWorld(dynamodb, endpoint);
  await world.post(KEY, { card: SECRET });
  const waiting = await world.items();
  await world.relay();
  await world.consume();
  await world.post(KEY, { card: SECRET });
  await world.post(KEY, { card: `${SECRET}!` });
  shown.push(waiting, await world.items());
});
afterAll(() => world?.stop());

/** All that was stored, at two times. */
const shown: string[] = [];

const spanOf = (name: string, at = 0) => world.spans().filter((span) => span.name === name)[at]!;
const idOf = (name: string, at = 0) => spanOf(name, at).spanContext();

it("has a span for each decision, with its outcome, under the invocation's", () => {
  const decided = world.spans().filter(({ attributes }) => attributes["onceonly.decision"]);

  expect(world.answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 422]);
  expect(decided.map(({ name }) => name)).toEqual([
    "pay executed",
    "ship executed",
    "ship replayed",
    "pay replayed",
    "pay mismatch",
  ]);
  expect(spanOf("pay executed").parentSpanContext?.spanId).toBe(idOf("POST /payments").spanId);
  expect(spanOf("pay executed").attributes).toEqual({
    "onceonly.operation": "pay",
    "onceonly.decision": "executed",
    "onceonly.key_hash": expect.stringMatching(/^[\w-]{43}$/),
    "onceonly.scope_hash": expect.stringMatching(/^[\da-f]{16}$/),
    "onceonly.attempt": 1,
  });
  expect(spanOf("pay mismatch").status.code).toBe(2);
});

it("links a replay to the original execution, and a consumer to the execution that committed its message", () => {
  const [first, again, consumed, consumedAgain] = [
    idOf("POST /payments"),
    spanOf("pay replayed"),
    spanOf("ship executed"),
    spanOf("ship replayed"),
  ];
  const linksOf = ({ links }: typeof again) =>
    links.map(({ context, attributes }) => [attributes?.["onceonly.link"], context.traceId, context.spanId]);

  expect(again.spanContext().traceId).toBe(idOf("POST /payments", 1).traceId);
  expect(linksOf(again)).toEqual([["original", first.traceId, first.spanId]]);
  expect(linksOf(consumed)).toEqual([["caller", first.traceId, first.spanId]]);
  expect(linksOf(consumedAgain)).toEqual([
    ["original", idOf("consume").traceId, idOf("consume").spanId],
    ["caller", first.traceId, first.spanId],
  ]);
});

it("counts decisions and measures calls in seconds", async () => {
  const metrics = await world.metrics();
  const units = Object.fromEntries(metrics.map(({ descriptor: { name, unit } }) => [name, unit]));
  const decisions = metrics.find(({ descriptor }) => descriptor.name === "onceonly.decisions")!;

  expect(units).toEqual({
    "onceonly.decisions": "{decision}",
    "onceonly.call.duration": "s",
    "onceonly.outbox.commits": "{commit}",
    "onceonly.outbox.lag": "s",
  });
  expect(decisions.dataPoints.map(({ attributes, value }) => [...Object.values(attributes), value])).toEqual([
    ["pay", "executed", 1],
    ["ship", "executed", 1],
    ["ship", "replayed", 1],
    ["pay", "replayed", 1],
    ["pay", "mismatch", 1],
  ]);
});

describe("a commit for a healthy destination and one that is gone", () => {
  const sends = () => world.spans().filter(({ attributes }) => attributes["messaging.operation.type"]);

  beforeAll(async () => {
    await world.post(`${KEY}/8`, { card: SECRET, order: "order-8", tellsDead: true }, "POST /both");
    await world.relay();
    await world.consume({ isTraced: false });
    await world.sweep();
    shown.push(await world.items());
  });

  it("has a span for each try to send, with its outcome", () => {
    const reported = sends().map(({ name, kind, status, attributes }) => [
      name,
      attributes["onceonly.by"],
      attributes["messaging.destination.name"],
      attributes["error.type"],
      kind,
      status.code,
    ]);
    const [[, , own] = []] = reported;

    expect(reported).toEqual([
      ["pay sent", "relay", own, undefined, SpanKind.PRODUCER, SpanStatusCode.UNSET],
      ["pay sent", "relay", own, undefined, SpanKind.PRODUCER, SpanStatusCode.UNSET],
      ["pay send-failed", "relay", "gone.fifo", GONE, SpanKind.PRODUCER, SpanStatusCode.ERROR],
      ["pay parked", "sweeper", "gone.fifo", GONE, SpanKind.PRODUCER, SpanStatusCode.ERROR],
    ]);
    expect(sends()[3]!.attributes).toEqual({
      "onceonly.operation": "pay",
      "onceonly.event": "parked",
      "onceonly.by": "sweeper",
      "onceonly.key_hash": spanOf("pay executed", 1).attributes["onceonly.key_hash"],
      "messaging.operation.type": "send",
      "messaging.system": "aws_sqs",
      "messaging.destination.name": "gone.fifo",
      "error.type": GONE,
    });
  });

  it("is one trace, from the request to the consumer, and each send links to its invocation", () => {
    const request = idOf("POST /both");
    const inTrace = world.spans().filter((span) => span.spanContext().traceId === request.traceId);
    const invocationOf = (name: string) =>
      sends()
        .filter((span) => span.name === name)
        .at(-1)!.links;
    const link = (name: string, at: number) => [
      { attributes: { "onceonly.link": "invocation" }, context: expect.objectContaining(ids(name, at)) },
    ];
    const ids = (name: string, at: number) => {
      const { traceId, spanId } = idOf(name, at);
      return { traceId, spanId };
    };

    expect(inTrace.map(({ name }) => name).sort()).toEqual([
      "POST /both",
      "pay executed",
      "pay parked",
      "pay send-failed",
      "pay sent",
      "ship executed",
      "ship replayed",
    ]);
    for (const span of inTrace.filter(({ name }) => name !== "POST /both"))
      expect(span.parentSpanContext?.spanId).toBe(request.spanId);
    expect(invocationOf("pay sent")).toMatchObject(link("relay", 1));
    expect(invocationOf("pay send-failed")).toMatchObject(link("relay", 1));
    expect(invocationOf("pay parked")).toMatchObject(link("sweep", 0));
  });
});

it("H38: no item, log, metric, span or problem shows the secret, and the consumer gets it", async () => {
  const spans = world.spans().map(({ name, attributes, links, events, status }) => ({
    name,
    attributes,
    links,
    events,
    status,
  }));
  const problems = world.answers.filter(({ statusCode }) => statusCode >= 400);
  const logged = world.lines.map((line) => JSON.parse(line));

  expect(world.bodies.map((body) => JSON.parse(body).card)).toEqual([SECRET, SECRET]);
  expect(logged.filter(({ message }) => message === "onceonly: replayed")).toHaveLength(3);
  expect(logged.some((line) => "_aws" in line)).toBe(true);
  expect(shown[0]).toContain("sealed.1.");
  expect(JSON.stringify([shown, world.lines, await world.metrics(), spans, problems])).not.toContain(SECRET);
});
