// The trace context in whose name a handler runs, and how it travels on: request, commit, queue, consumer.
import type { SQSRecord } from "aws-lambda";
import { httpIdempotent, idempotent, idempotentBatch, runOnce } from "onceonly";
import { type MessageProducer, outboxSweeper } from "onceonly/messaging";
import { MemoryStore } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqsRecord } from "../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import { newWorld, type World } from "../messaging/given.ts";
import { BUS, busEvent } from "./batch/cases/routes.ts";
import { givenBatch, sqsRecord as plainRecord } from "./batch/given.ts";
import { given } from "./given.ts";
import { v1Event, v2Event } from "./http/given.ts";

const traceOf = (digit: string) => `00-${digit.repeat(32)}-b7ad6b7169203331-01`;
const [FIRST, OTHER] = [traceOf("1"), traceOf("2")];
const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:payments.fifo";

describe("an HTTP handler", () => {
  async function seenWith(event: object, traceparent?: () => string | undefined) {
    const { options, context } = given();
    const seen: unknown[] = [];
    const handler = httpIdempotent(
      async (_: object, { idempotency }) => {
        seen.push(idempotency.traceparent);
        return { statusCode: 201, body: "{}" };
      },
      { ...options, scope: "public", ...(traceparent && { traceparent }) },
    );
    expect(await handler(event, context())).toMatchObject({ statusCode: 201 });
    return seen;
  }
  const headers = { "Idempotency-Key": "k", TraceParent: FIRST };

  it.each([v1Event, v2Event])(
    "runs in the name of the request's header, in any case (%#)",
    async (eventOf) => {
      expect(await seenWith(eventOf({ headers }))).toEqual([FIRST]);
    },
  );

  it.each<[string, object]>([
    ["is not there", { "Idempotency-Key": "k" }],
    ["is malformed", { ...headers, TraceParent: `${FIRST}-00` }],
    ["is of the version that is none", { ...headers, TraceParent: FIRST.replace("00", "ff") }],
    ["is there twice", { ...headers, TraceParent: [FIRST, OTHER] }],
  ])("runs without a trace if the header %s", async (_, odd) => {
    for (const eventOf of [v1Event, v2Event]) {
      expect(await seenWith(eventOf({ headers: odd as never }))).toEqual([undefined]);
    }
  });

  it("uses the option `traceparent` instead, even if that yields nothing usable or throws", async () => {
    const fail = () => {
      throw new Error("no tracer");
    };

    expect(await seenWith(v2Event({ headers }), () => OTHER)).toEqual([OTHER]);
    for (const none of [() => undefined, () => "00-0", fail]) {
      expect(await seenWith(v2Event({ headers }), none)).toEqual([undefined]);
    }
  });
});

describe("a consumer", () => {
  async function seenBy(record: SQSRecord, changes: object = {}) {
    const { options, context, errors } = givenBatch();
    const seen: unknown[] = [];
    const handler = idempotentBatch(
      (_: SQSRecord, { idempotency }) => void seen.push(idempotency.traceparent),
      {
        ...options,
        ...changes,
      },
    );
    await handler({ Records: [record] }, context());
    return { seen, errors };
  }
  const content = JSON.stringify({ v: 1, key: "order-7", traceparent: FIRST });
  const enveloped = plainRecord("m1", "paid", {
    messageAttributes: { OnceonlyEnvelope: { stringValue: content, dataType: "String" } },
  });
  const forwarded = plainRecord("m1", JSON.stringify(busEvent({ content })));

  it("gets the envelope's trace context, even with a different key", async () => {
    expect(await seenBy(enveloped)).toEqual({ seen: [FIRST], errors: [] });
    expect(await seenBy(enveloped, { key: () => "own" })).toEqual({ seen: [FIRST], errors: [] });
    expect(await seenBy(enveloped, { traceparent: () => OTHER })).toEqual({ seen: [OTHER], errors: [] });
  });

  it("gets a forwarded message's trace context if its envelope is trusted, else none", async () => {
    expect(await seenBy(forwarded, { trustedForwarders: [BUS] })).toEqual({ seen: [FIRST], errors: [] });
    expect(await seenBy(forwarded, { key: () => "own" })).toEqual({ seen: [undefined], errors: [] });
  });

  it("gets none from a message without an envelope, or with one that has none or a malformed one", async () => {
    const [bare, without] = [plainRecord("m1"), structuredClone(enveloped)];
    without.messageAttributes.OnceonlyEnvelope!.stringValue = '{"v":1,"key":"order-7","traceparent":"x"}';

    for (const record of [bare, without]) {
      expect(await seenBy(record)).toEqual({ seen: [undefined], errors: [] });
    }
  });
});

describe("from a request to a consumer", () => {
  let world: World;
  beforeAll(async () => {
    world = await newWorld();
  });
  afterAll(() => world.stop());

  async function consume() {
    const seen: unknown[] = [];
    const { options, context } = givenBatch();
    const handler = idempotentBatch(
      ({ body }: SQSRecord, { idempotency }) => void seen.push([body, idempotency.traceparent]),
      options,
    );
    const Records = (await world.drain()).map(
      (message) => sqsRecord(message, QUEUE_ARN, "us-east-1") as SQSRecord,
    );
    await handler({ Records }, context());
    return seen;
  }

  async function sweep(store: MemoryStore) {
    await world.clock.advance(120_000);
    await outboxSweeper({
      outbox: store.outbox,
      destinations: "any",
      sqs: world.client,
      clock: world.clock,
    })();
  }

  it("a commit's messages carry the trace on; a message with its own trace keeps that", async () => {
    const store = new MemoryStore();
    const message = (body: string, more: object = {}) => ({
      queue: world.queueUrl,
      key: body,
      group: "7",
      body,
      ...more,
    });
    const handler = httpIdempotent(
      async (_: object, { idempotency }) =>
        idempotency.commit(
          { statusCode: 201, body: "{}" },
          {
            messages: [
              message("carried"),
              message("own", { traceparent: OTHER }),
              message("odd", { traceparent: "odd" }),
            ],
          },
        ),
      { ...given().options, store, clock: world.clock, scope: "public" },
    );
    await handler(v2Event({ headers: { "Idempotency-Key": "k", traceparent: FIRST } }), given().context());

    await sweep(store);

    expect(await consume()).toEqual([
      ["carried", FIRST],
      ["own", OTHER],
      ["odd", undefined],
    ]);
  });

  it("`traceparent` names the trace of any other work: of an event, and of `runOnce`", async () => {
    const store = new MemoryStore();
    const options = { ...given().options, store, clock: world.clock, traceparent: () => FIRST };
    const message = (key: string) => ({ queue: world.queueUrl, key, group: "8", body: key });
    const handler = idempotent(
      async (_: object, { idempotency }) => idempotency.commit(null, { messages: [message("plain")] }),
      { ...options, key: () => "k" },
    );
    await handler({}, given().context());
    await runOnce({ ...options, leaseSeconds: 30 }, "k2", {}, ({ commit }) =>
      commit(null, { messages: [message("once")] }),
    );

    await sweep(store);

    expect(await consume()).toEqual([
      ["plain", FIRST],
      ["once", FIRST],
    ]);
  });

  it("a producer has no attempt: its messages carry their own trace", async () => {
    const producer: MessageProducer = world.newMessageProducer();
    const message = { queue: world.queueUrl, key: "k", group: "9", body: "sent" };

    await producer.send({ ...message, traceparent: FIRST });
    await producer.send({ ...message, key: "k2" });

    expect(await consume()).toEqual([
      ["sent", FIRST],
      ["sent", undefined],
    ]);
  });
});
