// One request through the whole chain, and again: its trace, its metrics, and what none of them may show.
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { connect } from "../../kit/tables.ts";
import { type ChainWorld, newChainWorld } from "./chain-world.ts";

const SECRET = "canary-2718";
const KEY = `key-${SECRET}`;

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

it("links a replay to the original execution, and a consumer to whoever committed its message", () => {
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

  expect(world.bodies).toEqual([JSON.stringify({ card: SECRET })]);
  expect(logged.filter(({ message }) => message === "onceonly: replayed")).toHaveLength(2);
  expect(logged.some((line) => "_aws" in line)).toBe(true);
  expect(shown[0]).toContain("sealed.1.");
  expect(JSON.stringify([shown, world.lines, await world.metrics(), spans, problems])).not.toContain(SECRET);
});
