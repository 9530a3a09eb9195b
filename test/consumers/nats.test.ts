// What only NATS has: the server learns that a message is in progress, and a message has a sequence number.
import { envelopeHeaders, natsConsumer } from "onceonly/consumers";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../lib/core/clock.ts";
import { gate } from "../kit/time/gate.ts";
import { hasServer as hasPostgres } from "../postgres/given.ts";
import { hasBroker, type Options, shop } from "./given.ts";
import { natsBench } from "./nats-given.ts";

const headers = envelopeHeaders({ key: "order-1" });
/** In nanoseconds. */
const HALF_A_SECOND = 500_000_000;

describe.skipIf(!hasBroker("NATS") || !hasPostgres)("natsConsumer", () => {
  it.each([
    ["reports to the server that a message is being processed, so that no other consumer gets it", 0.1, 0],
    ["lets other consumers get a message that it doesn't extend, and they find it in progress", 60, 1],
  ])("%s", async (_title, workingSeconds, refusals) => {
    const bench = await natsBench({ ack_wait: HALF_A_SECOND });
    const { options, note, effects, seen, count, refused } = await shop();
    const mayEnd = gate();
    let isRefused = false;
    void refused.then(() => {
      isRefused = true;
    });
    const given = { ...options, clock: systemClock, workingSeconds } as Options;
    const consumer = await bench.consume(async (text, idempotency) => {
      await mayEnd.opened;
      await note(text, idempotency);
    }, given);

    const sentAt = Date.now();
    await bench.send("a box", headers);
    // The server's own clock decides.
    await expect.poll(() => isRefused || Date.now() - sentAt > 1500, { timeout: 20_000 }).toBe(true);
    mayEnd.open();
    await seen("executed");
    await expect.poll(bench.left, { timeout: 20_000 }).toBe(0);
    await consumer.stop();

    expect([Number(isRefused), await effects(), count("executed")]).toEqual([refusals, ["a box"], 1]);
  });

  it("lets a message that never succeeds come as often as `max_deliver` allows, and reports each error", async () => {
    const bench = await natsBench({ max_deliver: 2 });
    const { options, note, effects, reported, seen } = await shop();
    const consumer = await bench.consume(async (text, idempotency) => {
      await note(text, idempotency);
      if (text === "a box") throw new Error("the van is full");
    }, options);

    await bench.send("a box", headers);
    await expect.poll(() => reported.length, { timeout: 20_000 }).toBe(2);
    await bench.send("another box", envelopeHeaders({ key: "order-2" }));
    await seen("executed");
    await consumer.stop();

    expect([await effects(), reported.length]).toEqual([["another box"], 2]);
  });

  it("uses the position as a key if configured: a redelivery is the same message, a second send isn't", async () => {
    const bench = await natsBench();
    const { options, note, effects, seen, count } = await shop();
    let runs = 0;
    const consumer = await bench.consume(
      async (text, idempotency) => {
        await note(text, idempotency);
        if (++runs === 1) throw new Error("the van is full");
      },
      { ...options, whenKeyMissing: "position" },
    );

    await bench.send("a box");
    await seen("executed");
    await bench.send("a box");
    await seen("executed", 2);
    await consumer.stop();

    expect([runs, await effects(), count("key-fallback")]).toEqual([3, ["a box", "a box"], 3]);
  });
});

describe("natsConsumer, without a server", () => {
  const messageOf = (answer: () => void) => ({
    data: Buffer.from("a box"),
    headers: new Headers(headers) as unknown as { get(name: string): string; has(name: string): boolean },
    info: { stream: "orders", streamSequence: 1, timestampNanos: 1, deliveryCount: 1 },
    ack: answer,
    nak: answer,
    term: answer,
    working: answer,
  });

  it("ends quietly if the connection is closed", async () => {
    const consumer = natsConsumer(() => {}, { operation: "ship-order", store: new MemoryStore() });
    const closed = messageOf(() => {
      throw new Error("closed connection");
    });

    await expect(consumer(closed)).resolves.toBeUndefined();
  });

  it("rejects invalid heartbeat intervals", () => {
    const given = { operation: "ship-order", store: new MemoryStore(), workingSeconds: 0 };

    expect(() => natsConsumer(() => {}, given)).toThrow("`workingSeconds` must be a number of seconds");
  });
});
