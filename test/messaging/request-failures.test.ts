import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { failureOf, messagesOf, newWorld, type World } from "./given.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

describe("FifoProducer.sendBatch", () => {
  it("ends with the first request that fails as a whole, and passes on why", async () => {
    const gone = world.newProducer({ queueUrl: world.queueUrl.replace(/queue-/, "missing-") });
    const names = Array.from({ length: 12 }, (_, index) => `${"g".repeat(index + 1)}1`);

    const error = await failureOf(gone.sendBatch(messagesOf(...names)));

    expect(error.failed.map(({ code }) => code)).toEqual([
      ...Array(10).fill("QueueDoesNotExist"),
      ...Array(2).fill("NotAttempted"),
    ]);
    expect(error.cause).toMatchObject({ name: "QueueDoesNotExist" });
  });

  it.each([
    [Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [new Error("anything"), "Error"],
    [new TypeError("a bug"), "TypeError"],
    ["a text", "Error"],
    [Object.assign(new Error("odd"), { name: "of order-7 at https://sqs" }), "Error"],
    [Object.assign(new Error("odd"), { code: "E".repeat(65) }), "Error"],
    [Object.assign(new Error("odd"), { code: 7 }), "Error"],
    [undefined, "Error"],
  ])("names what a client throws (%s)", async (thrown, code) => {
    const client = { config: {}, send: () => Promise.reject(thrown) };

    const error = await failureOf(world.newProducer({ client }).send(messagesOf("a1")[0]!));

    expect(error).toMatchObject({ code: "SEND_FAILED", failed: [{ id: "0", code }] });
    expect(error.cause).toBe(thrown);
  });

  it("H80: R2: ends when a client without timeouts never answers, and tells it to stop", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const signals: AbortSignal[] = [];
      const send = (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
        if (abortSignal) signals.push(abortSignal);
        return new Promise(() => {});
      };
      const client = { config: {}, send };
      const [message] = messagesOf("a1");
      const fifo = failureOf(world.newProducer({ client }).send(message!));
      const any = failureOf(
        new MessageProducer({ sqs: client }).send({ queue: world.queueUrl, ...message! }),
      );
      await vi.advanceTimersByTimeAsync(10_000);

      for (const error of [await fifo, await any])
        expect(error).toMatchObject({ code: "SEND_FAILED", failed: [{ id: "0", code: "TimeoutError" }] });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("H38: what a service names in words of its own is no code, and is in no error", async () => {
    const Code = "Invalid: the body of order-7";
    const client = { config: {}, send: async () => ({ Failed: [{ Id: "0", Code, SenderFault: true }] }) };

    const error = await failureOf(world.newProducer({ client }).send(messagesOf("a1")[0]!));

    expect(error.failed).toEqual([{ id: "0", code: "Error" }]);
    expect(JSON.stringify([error, error.message, error.results])).not.toContain("order-7");
  });

  it("tries a message again that an answer says nothing about", async () => {
    let requests = 0;
    const client = { config: {}, send: async () => (requests++ === 0 ? {} : { Successful: [{ Id: "0" }] }) };

    expect(await world.newProducer({ client }).sendBatch(messagesOf("a1"))).toEqual([
      { sent: true, messageId: "", sequenceNumber: "" },
    ]);
  });
});
