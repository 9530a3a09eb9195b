import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEFAULTS } from "../../lib/messaging/options.ts";
import { SQS_MAX_BYTES } from "../../lib/messaging/sqs-and-sns.ts";
import { BUSY, type Fault, failEntries, noteRequests, THROTTLED, WRONG } from "../kit/faults/faulty-sqs.ts";
import { failureOf, messagesOf, newWorld, type World } from "./given.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

const bodies = async () => (await world.drain()).map(({ Body }) => String(Body));

/** The first `times` tries of the message with this body fail. */
const failing = (body: string, fault: Fault, times = Number.POSITIVE_INFINITY) => {
  let left = times;
  failEntries(world.client, (entry) => (entry.MessageBody === body && left-- > 0 ? fault : undefined));
};

describe("FifoProducer.sendBatch", () => {
  it("answers for each message, in the order given", async () => {
    const sent = await world.producer.sendBatch(messagesOf("b1", "a1", "b2", "c1"));

    const ids = Object.fromEntries((await world.drain()).map(({ Body, MessageId }) => [Body, MessageId]));
    expect(sent.map(({ messageId }) => messageId)).toEqual([ids.b1, ids.a1, ids.b2, ids.c1]);
    expect(sent.every(({ sent, sequenceNumber }) => sent && /^\d{20}$/.test(sequenceNumber))).toBe(true);
  });

  it("sends nothing for no messages", async () => {
    const requests = noteRequests(world.client);

    expect(await world.producer.sendBatch([])).toEqual([]);
    expect(requests).toEqual([]);
  });

  it("sends 10 messages a request", async () => {
    const requests = noteRequests(world.client);
    const names = Array.from({ length: 23 }, (_, index) => `${"g".repeat(index + 1)}1`);

    await world.producer.sendBatch(messagesOf(...names));

    expect(requests.map(({ length }) => length)).toEqual([10, 10, 3]);
    expect((await bodies()).sort()).toEqual(names);
  });

  it("sends at most 1 MiB a request, the envelopes counted", async () => {
    const requests = noteRequests(world.client);
    const half = "h".repeat(SQS_MAX_BYTES / 2 - 41);
    const large = (name: string, body: string) => ({ key: name, group: name, body });

    await world.producer.sendBatch([
      large("a", half),
      large("b", half),
      large("c", `${half}h`),
      large("d", "d"),
    ]);

    expect(requests.map(({ length }) => length)).toEqual([2, 2]);
    expect(await bodies()).toHaveLength(4);
  });

  it("sends one message of a group per request, since SQS may reject the first of two and accept the second", async () => {
    const requests = noteRequests(world.client);

    await world.producer.sendBatch(messagesOf("a1", "a2", "b1", "a3", "b2"));

    expect(requests).toEqual([["a1", "b1"], ["a2", "b2"], ["a3"]]);
  });

  it.each([
    ["a failure of SQS", BUSY],
    ["throttling that counts as the sender's fault", THROTTLED],
  ])("tries only the failed message again after %s, and keeps the order", async (_, fault) => {
    failing("a1", fault, 2);
    const requests = noteRequests(world.client);

    await world.producer.sendBatch(messagesOf("a1", "a2", "b1", "b2", "b3"));

    expect(requests).toEqual([["a1", "b1"], ["a1", "b2"], ["a1", "b3"], ["a2"]]);
    expect((await bodies()).filter((body) => body.startsWith("a"))).toEqual(["a1", "a2"]);
    expect(world.slept).toEqual([100, 200]);
  });

  it("waits at random below a bound that stops at 5 seconds", async () => {
    failing("a1", BUSY);
    const random = { token: () => "token", fraction: () => 0.5 };

    await failureOf(world.newProducer({ maxTries: 9, random }).sendBatch(messagesOf("a1")));

    expect(world.slept).toEqual([50, 100, 200, 400, 800, 1600, 2500, 2500]);
  });

  it("gives up after `maxTries`, keeps the rest of the group back, and reports which were not sent", async () => {
    failing("a2", BUSY);
    const requests = noteRequests(world.client);

    const error = await failureOf(world.producer.sendBatch(messagesOf("a1", "a2", "b1", "a3", "b2")));

    expect(requests.filter((request) => request.includes("a2"))).toHaveLength(DEFAULTS.maxTries);
    expect(error).toMatchObject({
      code: "SEND_FAILED",
      retryable: true,
      message: "could not send 2 of 5 messages (InternalError, NotAttempted): send the same messages again",
      failed: [
        { id: "1", code: "InternalError" },
        { id: "3", code: "NotAttempted" },
      ],
    });
    expect(error.results.map(({ sent }) => sent)).toEqual([true, false, true, false, true]);
    expect((await bodies()).sort()).toEqual(["a1", "b1", "b2"]);
  });

  it("does not try again what SQS calls wrong", async () => {
    failing("a1", WRONG);
    const requests = noteRequests(world.client);

    const { failed } = await failureOf(world.producer.sendBatch(messagesOf("a1", "b1")));

    expect(failed).toEqual([{ id: "0", code: "InvalidParameterValue" }]);
    expect(requests).toHaveLength(1);
    expect(world.slept).toEqual([]);
  });

  it("reports the code of each message that one request has failed", async () => {
    const faults: Record<string, Fault> = { a1: WRONG, c1: BUSY };
    failEntries(world.client, ({ MessageBody = "" }) => faults[MessageBody]);

    const { failed } = await failureOf(
      world.newProducer({ maxTries: 1 }).sendBatch(messagesOf("a1", "b1", "c1")),
    );

    expect(failed).toEqual([
      { id: "0", code: "InvalidParameterValue" },
      { id: "2", code: "InternalError" },
    ]);
  });

  it("completes when the same is sent again, and repeats nothing", async () => {
    failing("a2", BUSY, DEFAULTS.maxTries);
    const messages = messagesOf("a1", "a2", "b1", "a3");
    const error = await failureOf(world.producer.sendBatch(messages));

    const sent = await world.producer.sendBatch(messages);

    expect(error.results[0]).toEqual(sent[0]);
    const delivered = await bodies();
    expect(delivered.filter((body) => body !== "b1")).toEqual(["a1", "a2", "a3"]);
    expect(delivered).toHaveLength(4);
  });

  it("sends nothing if one message is invalid, and says which", async () => {
    const requests = noteRequests(world.client);
    const messages = [...messagesOf("a1"), { key: "", group: "a", body: "a2" }];

    await expect(world.producer.sendBatch(messages)).rejects.toThrow(/^messages\[1\]: the key is missing/);
    await expect(world.producer.sendBatch("a1" as never)).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: "`messages` must be an array",
    });
    expect(requests).toEqual([]);
  });

  it("H32: rejects two messages under one key that differ", async () => {
    const messages = [...messagesOf("a1", "b1"), { key: "a1", group: "a", body: "another" }];

    await expect(world.producer.sendBatch(messages)).rejects.toMatchObject({
      code: "MESSAGE_ID_INVALID",
      message:
        "messages[2]: has the key of messages[0] but a different body, attributes or time: give each message its own key",
    });
    expect(await bodies()).toEqual([]);
  });

  it("sends a message once that is given twice", async () => {
    const [first, second] = await world.producer.sendBatch(messagesOf("a1", "a1"));

    expect(second).toEqual(first);
    expect(await bodies()).toEqual(["a1"]);
  });
});
