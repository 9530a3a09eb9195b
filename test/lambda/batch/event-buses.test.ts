// Events as a subscriber of an EventBridge custom event bus (AWS::EventsV2) passes them to a function.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-custom-bus-target-lambda.html
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import type { BatchOptions } from "../../../lib/lambda/batch/batch-options.ts";
import { answered, givenBatch, returned } from "./given.ts";

const BUS = "arn:aws:events:eu-central-1:123456789012:event-busv2/shop/abcdefghijklmnopqrstuvwxy";

/** Published with PutEvents, delivered as it is (`RAW`). */
const plain = (id: string, detail: object = { orderId: id }) => ({
  version: "0",
  id,
  "detail-type": "OrderPlaced",
  source: "shop",
  account: "123456789012",
  time: "2026-11-28T08:00:00Z",
  region: "eu-central-1",
  resources: [],
  detail,
});

/** Published with PutRawEvents, delivered with its metadata (`WITH_METADATA`). */
const described = (id: string, EventGroupId?: string, Data: unknown = { orderId: id }) => ({
  Data,
  Metadata: { tenant: "acme" },
  SystemMetadata: {
    ContentType: "application/json",
    "aws:EventId": id,
    "aws:DeliveryType": "LIVE",
    ...(EventGroupId && { EventGroupId }),
  },
});

function given(failing: readonly unknown[] = [], more: Partial<BatchOptions> = {}) {
  const { options, context, errors, clock, decisions } = givenBatch(more);
  const ran: unknown[] = [];
  const fails = new Set(failing);
  const handler = idempotentBatch((record: unknown, { idempotency }) => {
    ran.push([record, idempotency.key]);
    if (fails.has(record)) throw new Error("no");
  }, options);
  const run = (event: unknown) => answered(handler(event as never, context()));
  return { handler, run, ran, fails, context, errors, clock, decisions };
}

describe("idempotentBatch behind a custom event bus", () => {
  it.each<[string, (id: string) => object]>([
    ["as they are", (id: string) => plain(id)],
    ["with their metadata", (id: string) => described(id)],
  ])("R1: runs events once, delivered %s, under the ids of the bus", async (_, make) => {
    const { run, ran, decisions } = given();
    const events = ["e1", "e2"].map((id) => make(id));

    expect(await run(events)).toEqual({ batchItemFailures: [] });
    expect(await run(events.toReversed())).toEqual({ batchItemFailures: [] });
    expect(ran).toEqual(events.map((event, index) => [event, `e${index + 1}`]));
    expect(decisions()).toContain("key-fallback");
  });

  it("R1: throws if an event fails, because an asynchronous subscriber ignores the response; done events don't run again", async () => {
    const events = ["e1", "e2", "e3"].map((id) => plain(id));
    const { handler, run, ran, fails, context } = given([events[1]], { reportBatchItemFailures: true });

    await expect(handler(events as never, context())).rejects.toMatchObject({ code: "BATCH_NOT_DONE" });
    fails.clear();

    expect(returned(await run(events))).toEqual([]);
    expect(ran).toHaveLength(4);
  });

  it("R1: keeps the order of an event group, up to its first failure, and runs the others", async () => {
    const events = [described("a1", "a"), described("b1", "b"), described("a2", "a"), described("c")];
    const { run, ran } = given([events[0]]);

    expect(returned(await run(events))).toEqual(["a1", "a2"]);
    expect(ran).toEqual([events[0], events[1], events[3]].map((event) => [event, expect.anything()]));
  });

  it("R1: compares what was published: another id or time is the same event under one key, another detail isn't", async () => {
    const key = (event: unknown) => (event as { detail: { orderId: string } }).detail.orderId;
    const { run, ran, errors } = given([], { key });

    await run([plain("e1", { orderId: "o1", cents: 5 })]);
    await run([{ ...plain("e2", { cents: 5, orderId: "o1" }), time: "2026-11-28T09:00:00Z" }]);
    expect([ran.length, errors]).toEqual([1, []]);
    await run([plain("e3", { orderId: "o1", cents: 6 })]);
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("R1: believes an envelope only from a bus that is listed", async () => {
    const detail = { orderId: "o1", [ENVELOPE_ATTRIBUTE]: JSON.stringify({ v: 1, key: "from-outbox" }) };

    const open = given();
    expect(returned(await open.run([plain("e1", detail)]))).toEqual(["e1"]);
    expect(open.errors).toEqual([expect.objectContaining({ code: "IDEMPOTENCY_KEY_INVALID" })]);

    const trusting = given([], { trustedForwarders: [BUS] });
    await trusting.run([plain("e1", detail), plain("e2", detail), described("e3", "g", plain("e3", detail))]);
    expect(trusting.ran).toEqual([[expect.anything(), "from-outbox"]]);
  });

  it.each([
    ["without an id", [{ orderId: "o1" }]],
    ["with metadata but no id", [{ Data: {}, SystemMetadata: {} }]],
    ["of two forms", [plain("e1"), { orderId: "o1" }]],
  ])("R1: refuses events %s, such as raw events without their metadata", async (_, events) => {
    const { handler, context, ran } = given();

    await expect(handler(events as never, context())).rejects.toThrow("`WITH_METADATA`");
    expect(ran).toEqual([]);
  });
});
