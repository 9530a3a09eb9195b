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
    [undefined, "Error"],
  ])("names what a client throws (%s)", async (thrown, code) => {
    const client = { config: {}, send: () => Promise.reject(thrown) };

    const error = await failureOf(world.newProducer({ client }).send(messagesOf("a1")[0]!));

    expect(error).toMatchObject({ code: "SEND_FAILED", failed: [{ id: "0", code }] });
    expect(error.cause).toBe(thrown);
  });

  it("tries a message again that an answer says nothing about", async () => {
    let requests = 0;
    const client = { config: {}, send: async () => (requests++ === 0 ? {} : { Successful: [{ Id: "0" }] }) };

    expect(await world.newProducer({ client }).sendBatch(messagesOf("a1"))).toEqual([
      { sent: true, messageId: "", sequenceNumber: "" },
    ]);
  });
});
