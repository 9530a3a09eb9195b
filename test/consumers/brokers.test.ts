// What every broker's consumer does alike: the effect and its record are one transaction, and the message is acknowledged after it.

import { PermanentError } from "onceonly";
import { envelopeHeaders } from "onceonly/consumers";
import { fromPg, PostgresTransactions } from "onceonly/postgres";
import { afterEach, describe, expect, it, vi } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { hasServer as hasPostgres, poolOf, portOf } from "../postgres/given.ts";
import { type Bench, hasBroker, type Options, shop } from "./given.ts";
import { kafkaBench } from "./kafka-given.ts";
import { natsBench } from "./nats-given.ts";
import { rabbitBench } from "./rabbitmq-given.ts";

const benches: readonly (readonly [name: string, canRun: boolean, open: () => Promise<Bench> | Bench])[] = [
  ["RabbitMQ", hasBroker("RabbitMQ"), rabbitBench],
  ["RabbitMQ, a quorum queue", hasBroker("RabbitMQ"), () => rabbitBench({ "x-queue-type": "quorum" })],
  ["NATS JetStream", hasBroker("NATS"), natsBench],
  ["kafkajs, eachMessage", true, kafkaBench],
  ["kafkajs, eachBatch", true, () => kafkaBench("eachBatch")],
];
const canRun = benches.filter(([, can]) => can && hasPostgres);

const headers = envelopeHeaders({ key: "order-1" });
const noMessages = (bench: Bench) => expect.poll(bench.left, { timeout: 20_000 }).toBe(0);

afterEach(() => {
  vi.restoreAllMocks();
});

describe.skipIf(canRun.length === 0).each(canRun)("a consumer of %s", (_name, _canRun, open) => {
  it("runs a message once that was sent twice, and acknowledges both", async () => {
    const [bench, { options, note, effects, states, seen }] = [await open(), await shop()];
    const consumer = await bench.consume(note, options);

    await bench.send("a box", headers);
    await bench.send("a box", headers);
    await Promise.all([seen("executed"), seen("replayed")]);
    await consumer.stop();

    await noMessages(bench);
    expect([await effects(), await states(), await bench.aside()]).toEqual([["a box"], ["completed"], 0]);
  });

  it("undoes the work of a handler that fails, and runs it again", async () => {
    const [bench, { options, note, effects, states, seen, reported }] = [await open(), await shop()];
    let runs = 0;
    const consumer = await bench.consume(async (text, idempotency) => {
      await note(text, idempotency);
      if (++runs === 1) throw new Error("the van is full");
    }, options);

    await bench.send("a box", headers);
    await seen("executed");
    await consumer.stop();

    await noMessages(bench);
    expect([runs, await effects(), await states()]).toEqual([2, ["a box"], ["completed"]]);
    expect(reported).toEqual([new Error("the van is full")]);
  });

  it("runs each message once around one that fails, and again, between them", async () => {
    const [bench, { options, note, effects, states, count, reported }] = [await open(), await shop()];
    const runs: string[] = [];
    const consumer = await bench.consume(async (text, idempotency) => {
      runs.push(text);
      await note(text, idempotency);
      if (text === "two" && runs.filter((each) => each === text).length < 3)
        throw new Error("the van is full");
    }, options);

    for (const text of ["one", "two", "three"]) await bench.send(text, envelopeHeaders({ key: text }));
    await expect.poll(() => count("executed"), { timeout: 20_000 }).toBe(3);
    await consumer.stop();

    await noMessages(bench);
    expect(runs.toSorted()).toEqual(["one", "three", "two", "two", "two"]);
    expect([await effects(), await states()]).toEqual([["one", "three", "two"], Array(3).fill("completed")]);
    expect(reported).toHaveLength(2);
  });

  it("puts a message aside whose error is final, and records the error without the effect", async () => {
    const [bench, { options, note, effects, states, decisions, seen }] = [await open(), await shop()];
    const consumer = await bench.consume(async (text, idempotency) => {
      await note(text, idempotency);
      throw new PermanentError("no such street");
    }, options);

    await bench.send("a box", headers);
    await seen("executed");
    await bench.send("a box", headers);
    await seen("replayed");
    await consumer.stop();

    await noMessages(bench);
    await expect.poll(bench.aside).toBe(2);
    expect([await effects(), await states(), decisions]).toEqual([[], ["failed"], ["executed", "replayed"]]);
  });

  it("puts messages aside that cannot be read, or whose key had another payload", async () => {
    const [bench, { options, note, effects, seen, reported }] = [await open(), await shop()];
    const consumer = await bench.consume(note, options);

    await bench.send("a box", headers);
    await seen("executed");
    await bench.send("another box", headers);
    await bench.send("no envelope");
    await bench.send("a torn envelope", { OnceonlyEnvelope: "{" });
    await expect.poll(bench.aside, { timeout: 20_000 }).toBe(3);
    await consumer.stop();

    await noMessages(bench);
    expect(await effects()).toEqual(["a box"]);
    expect(reported.map((error) => (error as { code: string }).code).sort()).toEqual([
      "FINGERPRINT_MISMATCH",
      "IDEMPOTENCY_KEY_INVALID",
      "IDEMPOTENCY_KEY_MISSING",
    ]);
  });

  it("lets a duplicate come again while another consumer is processing it", async () => {
    const [bench, { options, note, effects, seen, reported, count, refused }] = [await open(), await shop()];
    const begun = gate();
    const mayEnd = gate();
    const handle = async (...given: Parameters<typeof note>) => {
      begun.open();
      await mayEnd.opened;
      return note(...given);
    };
    const one = await bench.consume(handle, options);
    await bench.send("a box", headers);
    await begun.opened;
    const two = await bench.consume(handle, options);
    await bench.send("a box", headers);
    await refused;

    mayEnd.open();
    await Promise.all([seen("executed"), seen("replayed")]);
    await noMessages(bench);
    await Promise.all([one.stop(), two.stop()]);

    await noMessages(bench);
    expect([await effects(), count("executed"), reported]).toEqual([["a box"], 1, []]);
  });

  it("replays a message whose connection was lost between the commit and the acknowledgement", async () => {
    const [bench, { options, note, effects, seen, decisions }] = [await open(), await shop()];
    let cut = () => {};
    const observe: Options["observe"] = (event) => {
      options.observe?.(event);
      cut();
    };
    const first = await bench.consume(note, { ...options, observe });
    cut = () => first.cut();
    await bench.send("a box", headers);
    await seen("executed");

    const second = await bench.consume(note, options);
    await seen("replayed");
    await second.stop();

    await noMessages(bench);
    expect([await effects(), decisions]).toEqual([["a box"], ["executed", "replayed"]]);
  });

  it("keeps a message while the store is unreachable, or refuses", async () => {
    const [bench, { options, effects, reported }] = [await open(), await shop()];
    const pool = poolOf(await portOf());
    const store = new PostgresTransactions({ client: fromPg(pool), table: "no_such_table" });
    const consumer = await bench.consume(() => {}, { ...options, store } as Options);

    await bench.send("a box", headers);
    await expect.poll(() => reported.length, { timeout: 20_000 }).toBeGreaterThan(1);
    await consumer.stop();

    await expect.poll(bench.left).toBe(1);
    expect([await effects(), await bench.aside()]).toEqual([[], 0]);
    expect(reported[0]).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: false });
  });

  it("gives handlers the trace of the sender, and logs neither body nor key", async () => {
    const [bench, { options, note, seen }] = [await open(), await shop()];
    const lines: unknown[] = [];
    for (const name of ["log", "info", "warn", "error"] as const)
      vi.spyOn(console, name).mockImplementation((...given) => void lines.push(given.map(String).join(" ")));
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const traces: unknown[] = [];
    let runs = 0;
    const consumer = await bench.consume(
      async (text, idempotency) => {
        traces.push(idempotency.traceparent);
        await note(text, idempotency);
        if (++runs === 1) throw new Error("the van is full");
      },
      { ...options, onMessageError: undefined as never },
    );

    await bench.send("a secret box", envelopeHeaders({ key: "order-secret", traceparent }));
    await seen("executed");
    await bench.send("another secret", envelopeHeaders({ key: "order-secret" }));
    await expect.poll(bench.aside, { timeout: 20_000 }).toBe(1);
    await consumer.stop();

    expect(traces).toEqual([traceparent, traceparent]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^onceonly: .* failed \(operation "ship-order"\): Error: the van is full/);
    expect(lines.join()).not.toMatch(/secret/);
  });
});
