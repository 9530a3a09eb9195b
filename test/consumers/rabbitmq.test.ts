// What is RabbitMQ's own: limits of deliveries, a redrive, a cancelled consumer, a channel that is closed.
import type { ConsumeMessage } from "amqplib";
import { PermanentError } from "onceonly";
import { envelopeHeaders, rabbitMqConsumer } from "onceonly/consumers";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it, vi } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { timeless } from "../kit/time/timeless.ts";
import { hasServer as hasPostgres } from "../postgres/given.ts";
import { hasBroker, shop } from "./given.ts";
import { PREFETCH, rabbitBench } from "./rabbitmq-given.ts";

const headers = envelopeHeaders({ key: "order-1" });
const options = () => ({ operation: "ship-order", store: new MemoryStore() });

const messageOf = (given: object = {}) => ({
  content: Buffer.from("a box"),
  fields: { deliveryTag: 7, redelivered: false },
  properties: { headers },
  ...given,
});
const silentChannel = () => {
  const said: unknown[] = [];
  return {
    said,
    ack: () => void said.push("ack"),
    nack: (_message: unknown, _allUpTo: boolean, requeue: boolean) => void said.push(["nack", requeue]),
  };
};

describe.skipIf(!hasBroker("RabbitMQ") || !hasPostgres)("rabbitMqConsumer", () => {
  it("leaves a message that never succeeds to the limit of a quorum queue, which dead-letters it", async () => {
    const bench = await rabbitBench({ "x-queue-type": "quorum", "x-delivery-limit": 2 });
    const { options: given, note, effects, reported } = await shop();
    const consumer = await bench.consume(async (text, idempotency) => {
      await note(text, idempotency);
      throw new Error("the van is full");
    }, given);

    await bench.send("a box", headers);
    await expect.poll(bench.aside, { timeout: 20_000 }).toBe(1);
    await consumer.stop();

    expect([await bench.left(), await effects(), reported.length]).toEqual([0, [], 3]);
  });

  it("N5: with a delay, good messages don't wait behind three times as many poison messages as the prefetch", async () => {
    const bench = await rabbitBench({ "x-queue-type": "quorum", "x-delivery-limit": 20 });
    const waiting = `${bench.queue}-waiting`;
    await bench.channel.assertQueue(waiting, {
      arguments: {
        "x-message-ttl": 50,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": bench.queue,
      },
    });
    const { options: given, note, effects } = await shop();
    const deliveries: number[] = [];
    const delay = async ({ content, properties }: ConsumeMessage, delivery: number) => {
      deliveries.push(delivery);
      if (delivery === 4) return false;
      bench.channel.sendToQueue(waiting, content, { headers: properties.headers, persistent: true });
      await bench.channel.waitForConfirms();
    };
    // A message that waits in the consumer waits for ever, and takes its place in the prefetch with it.
    const clock = { now: Date.now, sleep: () => new Promise<void>(() => {}) };
    const consumer = await bench.consume(
      async (text, idempotency) => {
        if (text === "poison") throw new Error("no such street");
        await note(text, idempotency);
      },
      { ...given, clock, delay } as typeof given,
    );

    for (let sent = 0; sent < 3 * PREFETCH; sent++)
      await bench.send("poison", envelopeHeaders({ key: `poison-${sent}` }));
    for (let sent = 0; sent < 100; sent++) await bench.send("good", envelopeHeaders({ key: `good-${sent}` }));
    await expect.poll(async () => (await effects()).length, { timeout: 30_000 }).toBe(100);
    await expect.poll(bench.aside, { timeout: 30_000 }).toBe(3 * PREFETCH);
    await consumer.stop();

    expect(await bench.left()).toBe(0);
    expect([1, 2, 3, 4].map((each) => deliveries.filter((delivery) => delivery === each).length)).toEqual(
      Array(4).fill(3 * PREFETCH),
    );
  });

  it("continues after as many failing messages as the prefetch allows, once a quorum queue gives up on them", async () => {
    const bench = await rabbitBench({ "x-queue-type": "quorum", "x-delivery-limit": 1 });
    const { options: given, note, effects, seen } = await shop();
    const consumer = await bench.consume(async (text, idempotency) => {
      if (text === "lost") throw new Error("no such street");
      await note(text, idempotency);
    }, given);

    for (let sent = 0; sent < PREFETCH; sent++) await bench.send("lost", envelopeHeaders({ key: `${sent}` }));
    await bench.send("a box", headers);
    await seen("executed");
    await expect.poll(bench.aside, { timeout: 20_000 }).toBe(PREFETCH);
    await consumer.stop();

    expect([await bench.left(), await effects()]).toEqual([0, ["a box"]]);
  });

  it("knows a message again that was sent back from the dead-letter queue", async () => {
    const bench = await rabbitBench();
    const { options: given, effects, seen, decisions } = await shop();
    const consumer = await bench.consume(() => {
      throw new PermanentError("no such street");
    }, given);
    await bench.send("a box", headers);
    await expect.poll(bench.aside, { timeout: 20_000 }).toBe(1);

    const dead = await bench.channel.get(bench.dead, { noAck: true });
    if (!dead) throw new Error("nothing is dead-lettered");
    bench.channel.sendToQueue(bench.queue, dead.content, { headers: dead.properties.headers });
    await seen("replayed");
    await consumer.stop();

    expect([decisions, await effects()]).toEqual([["executed", "replayed"], []]);
  });

  it("replays a message whose channel the server closed while its handler was running", async () => {
    const bench = await rabbitBench();
    const { options: given, note, effects, seen, decisions } = await shop();
    const mayEnd = gate();
    const begun = gate();
    const first = await bench.consume(async (text, idempotency) => {
      begun.open();
      await mayEnd.opened;
      await note(text, idempotency);
    }, given);
    await bench.send("a box", headers);
    await begun.opened;
    const closed = new Promise((resolve) => first.channel.once("close", resolve));
    first.channel.ack({ ...messageOf(), fields: { deliveryTag: 999 } } as never);
    await closed;
    const second = await bench.consume(note, given);

    mayEnd.open();
    await seen("replayed");
    await second.stop();

    expect([await bench.left(), await effects(), decisions]).toEqual([
      0,
      ["a box"],
      ["executed", "replayed"],
    ]);
  });

  it("reports that the server has cancelled it", async () => {
    const bench = await rabbitBench();
    let cancelled = 0;
    const onCancel = () => {
      cancelled++;
    };
    await bench.consume(() => {}, { ...options(), onCancel } as never);

    await bench.channel.deleteQueue(bench.queue);

    await expect.poll(() => cancelled, { timeout: 20_000 }).toBe(1);
  });
});

describe("rabbitMqConsumer, without a server", () => {
  it("ends quietly if the channel is closed, and replays what comes again", async () => {
    const closed = () => {
      throw new Error("Channel closed");
    };
    let runs = 0;
    const given = options();
    const handler = () => {
      runs++;
    };
    await rabbitMqConsumer({ ack: closed, nack: closed }, handler, given)(messageOf());
    const channel = silentChannel();

    await rabbitMqConsumer(channel, handler, given)(messageOf());

    expect([runs, channel.said]).toEqual([1, ["ack"]]);
  });

  it("pauses before it requeues, twice as long after each delivery that the queue counts, up to a minute", async () => {
    const clock = timeless();
    const channel = silentChannel();
    const fail = () => {
      throw new Error("the van is full");
    };
    const given = { ...options(), clock, retrySeconds: 2, onMessageError: () => {} };
    const consumer = rabbitMqConsumer(channel, fail, given);

    for (const count of [undefined, 1, 3, 50])
      await consumer(messageOf({ properties: { headers: { ...headers, "x-delivery-count": count } } }));

    expect(clock.slept).toEqual([2000, 4000, 16_000, 60_000]);
    expect(channel.said).toEqual(Array(4).fill(["nack", true]));
  });

  it.each([
    [
      "no channel",
      () => rabbitMqConsumer(undefined as never, () => {}, options()),
      "must be an amqplib channel, passed as the first argument",
    ],
    ["no handler", () => rabbitMqConsumer(silentChannel(), undefined as never, options()), "`handler` must"],
    ["no options", () => rabbitMqConsumer(silentChannel(), () => {}, undefined as never), "`operation` must"],
    [
      "a place for a key",
      () =>
        rabbitMqConsumer(silentChannel(), () => {}, { ...options(), whenKeyMissing: "position" as never }),
      "because a RabbitMQ message has no position",
    ],
    [
      "a wrong `onCancel`",
      () => rabbitMqConsumer(silentChannel(), () => {}, { ...options(), onCancel: 1 as never }),
      "`onCancel` must be a function",
    ],
  ])("rejects %s immediately", (_what, make, why) => {
    expect(make).toThrow(why);
  });

  it("N5: a delay that fails leaves the message to wait here, and reports it; a wrong one is rejected", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const channel = silentChannel();
    const { sleep, slept, now } = timeless();
    const delay = () => Promise.reject(new Error("no such queue"));
    const fails = () => Promise.reject(new Error("no such street"));
    const given = { ...options(), clock: { now, sleep }, onMessageError: () => {} };
    await rabbitMqConsumer(channel, fails, { ...given, delay })(messageOf());

    expect(channel.said).toEqual([["nack", true]]);
    expect(slept).toContain(1000);
    expect(error).toHaveBeenCalledOnce();
    error.mockRestore();
    expect(() => rabbitMqConsumer(channel, fails, { ...given, delay: 5 as never })).toThrow("delay");
  });
});
