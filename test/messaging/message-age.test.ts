// A message that reaches its consumer later than the consumer remembers: of each kind of consumer, over a store in memory.
import type { SQSRecord } from "aws-lambda";
import {
  type DecisionEvent,
  idempotency,
  idempotent,
  idempotentBatch,
  keyFromEventBridge,
  keyFromSns,
} from "onceonly";
import { idempotentConsumer } from "onceonly/consumers";
import { S3ClaimCheck } from "onceonly/messaging";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { commitTimeReader } from "../../lib/core/message-age.ts";
import { messageText } from "../../lib/core/messages/message-text.ts";
import { envelopeContent } from "../../lib/core/messages/prepare-message.ts";
import { isExpired } from "../../lib/core/record.ts";
import { readHeldEnvelope } from "../../lib/messaging/envelope.ts";

const HOUR = 3_600_000;
const DAY_SECONDS = 86_400;
const START = 1_700_000_000_000;
const BUS = "shop";

interface Options {
  readonly retentionSeconds?: number;
  readonly whenKeyExpired?: "run" | "reject";
  readonly mode?: "claimed" | "optimistic";
}

/** One message, as each kind of consumer gets it; `committedAt` is null for one that was sent without a commit. */
function newWorld(options: Options, committedAt: number | null = START) {
  const clock = fakeClock(START);
  const store = new MemoryStore();
  const decisions: string[] = [];
  let runs = 0;
  const work = async () => {
    runs += 1;
    return null;
  };
  const engine = {
    operation: "charge",
    store,
    clock,
    observe: ({ decision }: DecisionEvent) => void decisions.push(decision),
    ...options,
  };
  const envelope = messageText(envelopeContent({ key: "order-7", committedAt: committedAt ?? undefined }));
  const detail = { id: 7, [ENVELOPE_ATTRIBUTE]: JSON.parse(envelope) };
  const context = () => fakeLambdaContext({ clock });
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const noteError = async (call: Promise<unknown>) => void (await call.catch(onError));

  const record = {
    messageId: "1",
    body: "{}",
    messageAttributes: { [ENVELOPE_ATTRIBUTE]: { stringValue: envelope, dataType: "String" } },
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:payments",
  } as never as SQSRecord;
  const forwarded = {
    ...record,
    body: JSON.stringify({ source: "shop", "detail-type": "paid", detail }),
    messageAttributes: {},
  };
  const sns = {
    Records: [
      {
        Sns: {
          MessageId: "1",
          Message: "{}",
          MessageAttributes: { [ENVELOPE_ATTRIBUTE]: { Value: envelope } },
        },
      },
    ],
  };
  const viaBus = { Records: [{ Sns: { MessageId: "1", Message: forwarded.body } }] };
  const event = { id: "1", source: "shop", "detail-type": "paid", detail };
  const once = { ...engine, fingerprint: () => "same" };
  const batch = idempotentBatch<SQSRecord>(work, {
    ...engine,
    onRecordError: onError,
    trustedForwarders: [BUS],
  });
  const bySns = idempotent(work, { ...once, key: keyFromSns() });
  const byBus = idempotent(work, { ...once, key: keyFromSns({ trustedForwarders: [BUS] }) });
  const byEvent = idempotent(work, { ...once, key: keyFromEventBridge({ trustedForwarders: [BUS] }) });
  const middleware = idempotency({ ...once, key: keyFromSns() });
  const consumer = idempotentConsumer<{ text: string }>(
    work,
    {
      ...engine,
      ...(options.mode === "optimistic" ? {} : { leaseSeconds: 30 }),
      renewLease: false,
      onMessageError: onError,
    } as never,
    ({ text }) => ({ name: "message 1", content: Buffer.from(text), envelope }),
  );
  const consumers = {
    "a batch of SQS": () => noteError(batch({ Records: [record] }, context() as never)),
    "a batch of events in SQS": () => noteError(batch({ Records: [forwarded] }, context() as never)),
    "a function behind SNS": () => noteError(bySns(sns, context())),
    "a function behind a bus and SNS": () => noteError(byBus(viaBus, context())),
    "a function behind EventBridge": () => noteError(byEvent(event, context())),
    "Middy behind SNS": () =>
      noteError(
        (async () => {
          const request = { event: sns, context: context(), internal: {}, response: undefined } as never;
          const early = await middleware.before(request);
          if (early !== undefined || (request as { earlyResponse?: unknown }).earlyResponse !== undefined)
            return;
          (request as { response: unknown }).response = await work();
          await middleware.after(request);
        })(),
      ),
    "a consumer of a broker": async () => {
      await consumer({ text: "{}" });
    },
  };
  return {
    consumers,
    decisions,
    runs: () => runs,
    codes: () =>
      errors.map((error) => (error as { code?: string }).code).filter((code) => code !== undefined),
    async later(hours: number) {
      await clock.advance(hours * HOUR);
      for (const [recordKey, each] of [...store.records])
        if (isExpired(each, clock.now())) store.alter(recordKey, undefined);
    },
  };
}

type Consumer = keyof ReturnType<typeof newWorld>["consumers"];
const CONSUMERS = Object.keys(newWorld({}).consumers) as Consumer[];

describe.each(CONSUMERS)("%s", (name) => {
  it.each([23, 25, 73, 34 * 24])("H79: by default remembers a message for %d hours", async (hours) => {
    const world = newWorld({});
    await world.consumers[name]();

    await world.later(hours);
    await world.consumers[name]();

    expect([world.runs(), world.codes()]).toEqual([1, []]);
  });

  it.each([
    ["that it has forgotten", {}, 36 * 24, true],
    ["that it never got, and is older than it remembers", {}, 36 * 24, false],
    ["that it has forgotten by its own retention", { retentionSeconds: DAY_SECONDS }, 25, true],
  ])("H79: refuses a message %s", async (_, options, hours, wasHandled) => {
    const world = newWorld(options);
    if (wasHandled) await world.consumers[name]();

    await world.later(hours);
    await world.consumers[name]();

    expect(world.runs()).toBe(wasHandled ? 1 : 0);
    expect(world.codes()[0]).toBe("IDEMPOTENCY_KEY_INVALID");
    expect(world.decisions).toContain("key-expired");
  });

  it("H79: runs such a message if the user allows it, and reports it", async () => {
    const world = newWorld({ retentionSeconds: DAY_SECONDS, whenKeyExpired: "run" });

    await world.later(25);
    await world.consumers[name]();

    expect([world.runs(), world.codes()]).toEqual([1, []]);
    expect(world.decisions).toContain("key-expired");
  });

  it("H79: runs a message without a time, as from another sender", async () => {
    const world = newWorld({ retentionSeconds: DAY_SECONDS }, null);

    await world.later(25);
    await world.consumers[name]();

    expect(world.runs()).toBe(1);
  });
});

it("H79: in the optimistic mode such a message is refused too", async () => {
  const world = newWorld({ mode: "optimistic", retentionSeconds: DAY_SECONDS });
  await world.consumers["a batch of SQS"]();

  await world.later(25);
  await world.consumers["a batch of SQS"]();

  expect(world.runs()).toBe(1);
  expect(world.codes()[0]).toBe("IDEMPOTENCY_KEY_INVALID");
});

it("H79: a message whose body the bucket has deleted is not run, and one that is done needs no body", async () => {
  const clock = fakeClock(START);
  const store = new MemoryStore();
  const errors: unknown[] = [];
  const objects = new Map<string, string>();
  const client = {
    putObject: async ({ Key, Body }: { Key: string; Body: string }) => void objects.set(Key, Body),
    getObject: async ({ Key }: { Key: string }) => {
      const body = objects.get(Key);
      if (body === undefined) throw Object.assign(new Error("gone"), { name: "NoSuchKey" });
      return { Body: { transformToString: async () => body } };
    },
  };
  const bodies = new S3ClaimCheck({ bucket: "bodies", client, minBytes: 10 });
  let runs = 0;
  const handler = idempotentBatch<SQSRecord>(
    () => {
      runs += 1;
    },
    {
      ...{
        operation: "report",
        store,
        clock,
        claimCheck: bodies,
        onRecordError: (error) => void errors.push(error),
      },
    },
  );
  const queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/reports";
  const deliver = async (key: string) => {
    const [checked] = await bodies.checkIn([{ queue, key, body: `report ${key} `.repeat(9) }]);
    const envelope = messageText(envelopeContent({ key, committedAt: START }));
    const record = {
      messageId: key,
      body: checked!.body,
      messageAttributes: { [ENVELOPE_ATTRIBUTE]: { stringValue: envelope, dataType: "String" } },
      eventSource: "aws:sqs",
    } as never as SQSRecord;
    return () => handler({ Records: [record] }, fakeLambdaContext({ clock }) as never).catch(() => {});
  };
  const [done, waiting] = [await deliver("done"), await deliver("waiting")];
  await done();
  await clock.advance(73 * HOUR);
  objects.clear();

  await done();
  expect(errors).toEqual([]);
  await waiting();

  expect(runs).toBe(1);
  expect(errors).toMatchObject([{ code: "BODY_UNAVAILABLE" }]);
});

it("H79: R1: a key that isn't a function reads no time, and a message without an envelope has none", () => {
  expect([commitTimeReader("$.id"), commitTimeReader(() => "k1")]).toEqual([undefined, undefined]);
  expect(readHeldEnvelope(undefined)).not.toHaveProperty("envelope");
});
