// What is Kafka's own: offsets, heartbeats, a batch whose consumer stops. On the classes of kafkajs; no Kafka runs here.
import { idempotentBatch, PermanentError } from "onceonly";
import { envelopeHeaders, kafkaEachBatch, kafkaEachMessage } from "onceonly/consumers";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { untilSleeping } from "../kit/time/until-sleeping.ts";
import { watch } from "./given.ts";
import { kafkaBench } from "./kafka-given.ts";

const headers = envelopeHeaders({ key: "order-1" });
const options = () => ({ operation: "ship-order", store: new MemoryStore() as never });

const payloadOf = (heartbeat = async () => {}) => ({
  topic: "orders",
  partition: 0,
  message: { offset: "5", timestamp: "1700000000000", value: Buffer.from("a box"), headers },
  heartbeat,
});

function neverRetriable(): never {
  throw Object.assign(new Error("the producer is disconnected"), { retriable: false });
}

describe.each(["eachMessage", "eachBatch"] as const)("kafkajs with %s", (each) => {
  it("commits an offset after the record, and none of a message that has failed", async () => {
    const bench = kafkaBench(each);
    const mayEnd = gate();
    const { observe, seen } = watch();
    const committed: number[] = [];
    await bench.consume(
      async (text) => {
        committed.push(bench.committed());
        if (text === "two") await mayEnd.opened;
      },
      { ...options(), observe, onMessageError: () => {} },
    );
    for (const text of ["one", "two", "three"]) await bench.send(text, envelopeHeaders({ key: text }));
    await seen("executed");
    mayEnd.fail(new Error("the van is full"));
    await expect.poll(() => committed.length).toBeGreaterThan(3);

    expect([...new Set(committed)]).toEqual([0, 1]);
    expect(bench.committed()).toBe(1);
  });

  it.each([
    ["a SyntaxError, as of a body that is no JSON", () => JSON.parse("{")],
    ["a TypeError", () => (undefined as never as { box: string }).box],
    ["what says `retriable: false`, as errors of its producer do", neverRetriable],
    ["nothing at all", () => Promise.reject(undefined)],
  ])("is not ended for good by a handler that throws %s", async (_what, fail) => {
    const bench = kafkaBench(each);
    const { observe, seen } = watch();
    let runs = 0;
    const handle = () => (++runs === 1 ? fail() : undefined);
    await bench.consume(handle, { ...options(), observe, onMessageError: () => {} });

    await bench.send("a box", headers);
    await seen("executed");

    await expect.poll(bench.left).toBe(0);
    expect(runs).toBe(2);
  });

  it("stops at a final error that nothing handles", async () => {
    const bench = kafkaBench(each);
    const { observe, seen } = watch();
    let runs = 0;
    const fail = () => {
      runs++;
      throw new PermanentError("no such street");
    };
    await bench.consume(fail, {
      ...options(),
      observe,
      whenFinalError: "return",
      onMessageError: () => {},
    });
    await bench.send("a box", headers);
    await seen("replayed", 3);

    expect([runs, bench.committed()]).toEqual([1, 0]);
  });

  it("drops final errors if configured", async () => {
    const bench = kafkaBench(each);
    const fail = () => {
      throw new PermanentError("no such street");
    };
    await bench.consume(fail, { ...options(), whenFinalError: "acknowledge", onMessageError: () => {} });

    await bench.send("a box", headers);

    await expect.poll(bench.left).toBe(0);
  });
});

describe("kafkaEachMessage", () => {
  it("gives the group heartbeats while the handler runs, and none after it", async () => {
    const clock = fakeClock();
    const mayEnd = gate();
    let heartbeats = 0;
    const heartbeat = async () => {
      if (++heartbeats === 1) throw new Error("the group is rebalancing");
    };
    const done = kafkaEachMessage(() => mayEnd.opened, { ...options(), clock })(payloadOf(heartbeat));
    await untilSleeping(clock);

    await clock.advance(10_000);
    mayEnd.open();
    await done;
    await clock.advance(10_000);

    expect([heartbeats, clock.sleepers]).toEqual([3, 0]);
  });

  it("waits for a message that is in progress elsewhere, and a minute at most", async () => {
    const clock = fakeClock();
    const begun = gate();
    const given = { ...options(), clock };
    const never = () => {
      begun.open();
      return new Promise<void>(() => {});
    };
    void kafkaEachMessage(never, given)(payloadOf());
    await begun.opened;
    const begunAt = clock.now();

    const second = clock.run(kafkaEachMessage(() => {}, given)(payloadOf()));

    await expect(second).rejects.toMatchObject({ cause: { code: "EXECUTION_IN_PROGRESS" } });
    expect(clock.now() - begunAt).toBeGreaterThanOrEqual(60_000);
    expect(clock.now() - begunAt).toBeLessThan(75_000);
  });

  it("knows a message that a Lambda function has had from the same topic", async () => {
    const given = options();
    const { observe, decisions } = watch();
    let runs = 0;
    const run = () => {
      runs++;
    };
    const { message, topic, partition } = payloadOf();
    const record = {
      topic,
      partition,
      offset: 5,
      value: message.value.toString("base64"),
      headers: [{ OnceonlyEnvelope: [...Buffer.from(headers.OnceonlyEnvelope)] }],
    };
    await idempotentBatch(run, given)(
      { records: { "orders-0": [record] } } as never,
      fakeLambdaContext({ clock: fakeClock() }),
    );

    await kafkaEachMessage(run, { ...given, observe })(payloadOf());

    expect([runs, decisions]).toEqual([1, ["replayed"]]);
  });
});

describe("A10: a tombstone and an empty value", () => {
  const tombstone = { ...payloadOf().message, value: null };
  const empty = { ...payloadOf().message, value: Buffer.alloc(0) };

  it.each([
    ["tombstone, then empty", tombstone, empty],
    ["empty, then tombstone", empty, tombstone],
  ])("are two payloads: %s", async (_, first, second) => {
    const values: unknown[] = [];
    const errors: unknown[] = [];
    const each = kafkaEachMessage<never>(
      ({ message: { value } }: { message: { value: unknown } }) => void values.push(value),
      { ...options(), onMessageError: (error) => void errors.push(error) },
    ) as (payload: object) => Promise<void>;
    const payload = payloadOf();

    await each({ ...payload, message: first });
    await each({ ...payload, message: first });
    await expect(each({ ...payload, message: second })).rejects.toThrow(
      "message of orders-0 at offset 5 failed",
    );
    expect(values).toEqual([first.value]);
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("is a tombstone for a Lambda function too", async () => {
    const given = options();
    let runs = 0;
    const run = () => void runs++;
    const { topic, partition } = payloadOf();
    const inLambda = {
      topic,
      partition,
      offset: 5,
      value: null,
      headers: [{ OnceonlyEnvelope: [...Buffer.from(headers.OnceonlyEnvelope)] }],
    };
    await idempotentBatch(run, given)(
      { records: { "orders-0": [inLambda] } } as never,
      fakeLambdaContext({ clock: fakeClock() }),
    );
    await kafkaEachMessage(run, given)({ ...payloadOf(), message: tombstone } as never);

    expect(runs).toBe(1);
  });
});

describe("kafkaEachBatch", () => {
  it("leaves messages that arrive after a consumer has stopped, or gone elsewhere in its partition", async () => {
    const ran: string[] = [];
    const resolved: string[] = [];
    const { eachBatch, eachBatchAutoResolve } = kafkaEachBatch(({ message }) => {
      ran.push(message.offset);
    }, options());
    const { message } = payloadOf();
    const messages = ["5", "6", "7"].map((offset) => ({
      ...message,
      offset,
      headers: envelopeHeaders({ key: offset }),
    }));
    const payload = {
      batch: { topic: "orders", partition: 0, messages },
      resolveOffset: (offset: string) => void resolved.push(offset),
      heartbeat: async () => {},
      commitOffsetsIfNecessary: async () => {},
      isRunning: () => ran.length < 1,
      isStale: () => false,
    };

    await eachBatch(payload);
    await eachBatch({ ...payload, isRunning: () => true, isStale: () => ran.length > 1 });

    expect(eachBatchAutoResolve).toBe(false);
    expect([ran, resolved]).toEqual([
      ["5", "6"],
      ["5", "5", "6"],
    ]);
  });
});
