import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
