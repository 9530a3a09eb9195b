import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { SQS_MAX_BYTES } from "../../lib/messaging/sqs-and-sns.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { BUSY, failEntries, noteRequests } from "../kit/faults/faulty-sqs.ts";
import { failureOf, newWorld, type World } from "./given.ts";

let world: World;
let fifo: string;
let standard: string;
let producer: MessageProducer;

beforeEach(async () => {
  world = await newWorld();
  fifo = world.queueUrl;
  standard = await world.newStandardQueue();
  producer = world.newMessageProducer();
});

afterEach(() => world.stop());

const bodies = async (url: string) => (await world.drain(url)).map(({ Body }) => String(Body));
const paid = (queue: string) => ({ queue, key: "order-7/paid", group: "7", body: { cents: 700 } });

describe("MessageProducer.sendBatch", () => {
  it("answers for the messages of all destinations in the order given", async () => {
    const other = await world.newQueue({});
    const messages = [fifo, standard, other, fifo].map((queue, index) => ({
      queue,
      key: `order-${index}`,
      group: "7",
      body: `${index}`,
    }));

    const sent = await producer.sendBatch(messages);

    const taken = (await Promise.all([fifo, standard, other].map((url) => world.drain(url)))).flat();
    const ids = new Map(taken.map(({ Body, MessageId }) => [Body, MessageId]));
    expect(sent.map(({ messageId }) => messageId)).toEqual(["0", "1", "2", "3"].map((body) => ids.get(body)));
    expect(sent.map(({ sequenceNumber }) => sequenceNumber !== "")).toEqual([true, false, true, true]);
  });

  it("sends nothing for no messages", async () => {
    expect(await producer.sendBatch([])).toEqual([]);
  });

  it("fills requests to a standard queue, whose groups have no order, and sends one of each FIFO group", async () => {
    const requests = noteRequests(world.client);
    const messages = (queue: string) =>
      Array.from({ length: 12 }, (_, index) => ({ queue, key: `k${index}`, group: "7", body: `${index}` }));

    await producer.sendBatch(messages(standard));
    await producer.sendBatch(messages(fifo).slice(0, 3));

    expect(requests.map(({ length }) => length)).toEqual([10, 2, 1, 1, 1]);
  });

  it("continues with other destinations when one does not exist, and reports what was not sent", async () => {
    const missing = standard.replace(/queue-/, "missing-");
    const order = [missing, fifo, standard, missing].map((queue, index) => ({
      ...paid(queue),
      key: `k${index}`,
    }));

    const error = await failureOf(producer.sendBatch(order));

    expect(error).toMatchObject({
      code: "SEND_FAILED",
      failed: [
        { id: "0", code: "QueueDoesNotExist" },
        { id: "3", code: "QueueDoesNotExist" },
      ],
      cause: { name: "QueueDoesNotExist" },
    });
    expect([await bodies(fifo), await bodies(standard)].flat()).toHaveLength(2);
  });

  it("does not let the retries of one destination keep another waiting", async () => {
    const ends: string[] = [];
    const clock = {
      now: () => 0,
      sleep: async () => {
        await expect.poll(() => ends).toContain("standard");
      },
    };
    let left = 1;
    failEntries(world.client, ({ MessageGroupId }) => (MessageGroupId && left-- > 0 ? BUSY : undefined));
    aroundRequests(
      world.client,
      async ({ input, send }) => {
        const answer = await send();
        if ((input as { QueueUrl?: string }).QueueUrl === standard) ends.push("standard");
        return answer;
      },
      { at: "front" },
    );

    const messages = [paid(fifo), { queue: standard, key: "order-8", body: "b" }];
    expect(await world.newMessageProducer({ clock }).sendBatch(messages)).toHaveLength(2);
  });

  it("sends nothing if one message is invalid, and says which", async () => {
    const requests = noteRequests(world.client);
    const large = { queue: standard, key: "order-8", body: "b".repeat(SQS_MAX_BYTES) };

    await expect(producer.sendBatch([paid(fifo), { ...paid(fifo), key: "" }])).rejects.toThrow(
      /^messages\[1\]: the key is missing/,
    );
    await expect(producer.sendBatch([paid(fifo), large])).rejects.toThrow(
      /^messages\[1\]: body and envelope/,
    );
    await expect(producer.sendBatch(paid(fifo) as never)).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
    expect(requests).toEqual([]);
  });

  it("H32: rejects two messages under one key that differ, on any queue", async () => {
    const other = { ...paid(standard), body: "refunded" };

    await expect(producer.sendBatch([paid(standard), paid(fifo), other])).rejects.toMatchObject({
      code: "MESSAGE_ID_INVALID",
      message: expect.stringMatching(/^messages\[2\]: has the key of messages\[0\]/),
    });
    await producer.sendBatch([paid(standard), { ...other, queue: fifo }]);
  });
});
