// What SQS does with standard queues now and then, and how far it looks into a FIFO queue.
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../../../lib/testing/fake-clock.ts";
import { fakeRandom } from "../../../../../lib/testing/fake-random.ts";
import type { Disorder } from "../../../lib/aws/sqs/disorder.ts";
import { SqsModel, type SqsModelOptions } from "../../../lib/aws/sqs/sqs-model.ts";

async function givenQueue(name: string, options: SqsModelOptions = {}) {
  const clock = fakeClock();
  const model = new SqsModel({ clock, random: fakeRandom(1), ...options });
  const Attributes: Record<string, string> = name.endsWith(".fifo") ? { FifoQueue: "true" } : {};
  const { QueueUrl } = await model.call("CreateQueue", { QueueName: name, Attributes });
  const send = (body: string, group?: string) =>
    model.call("SendMessage", {
      QueueUrl,
      MessageBody: body,
      ...(name.endsWith(".fifo") && { MessageGroupId: group, MessageDeduplicationId: body }),
    });
  const receive = async (count = 10) =>
    (await model.call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: count })).Messages ?? [];
  const remove = (ReceiptHandle: string) => model.call("DeleteMessage", { QueueUrl, ReceiptHandle });
  return { clock, model, QueueUrl, send, receive, remove };
}

const withDisorder = (disorder: Disorder): SqsModelOptions => ({ disorderOf: () => disorder });

describe("a standard queue with repetitions", () => {
  it("hands some messages out again while they are in flight, and some after they were deleted", async () => {
    const { clock, model, QueueUrl, send, receive, remove } = await givenQueue(
      "q",
      withDisorder({ repeats: 0.2 }),
    );
    const received = new Map<string, number>();
    for (let index = 0; index < 200; index++) await send(`m${index}`);

    while (model.backlog(QueueUrl).messages > 0) {
      const messages = await receive();
      if (messages.length === 0) await clock.advance(30_000);
      for (const { Body, ReceiptHandle } of messages) {
        received.set(Body, (received.get(Body) ?? 0) + 1);
        await remove(ReceiptHandle);
      }
    }

    const counts = [...received.values()];
    expect(counts).toHaveLength(200);
    expect(counts.filter((count) => count > 1).length).toBeGreaterThan(30);
  });

  it("lets a second receiver have a message that the first one is working on", async () => {
    const { send, receive } = await givenQueue("q", withDisorder({ repeats: 0.9 }));
    await send("a");

    const [first] = await receive(1);
    const [second] = await receive(1);

    expect(second?.MessageId).toBe(first?.MessageId);
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
  });

  it("repeats nothing by default, and never in a FIFO queue", async () => {
    for (const { send, receive } of [
      await givenQueue("q"),
      await givenQueue("q.fifo", withDisorder({ repeats: 0.9, shuffles: true })),
    ]) {
      for (const body of ["a", "b", "c", "d"]) await send(body, "g");

      expect((await receive()).map(({ Body }) => Body)).toEqual(["a", "b", "c", "d"]);
      expect(await receive()).toEqual([]);
    }
  });
});

describe("a standard queue that shuffles", () => {
  it("hands messages out in another order than they came in, each once", async () => {
    const { send, receive } = await givenQueue("q", withDisorder({ shuffles: true }));
    const bodies = Array.from({ length: 10 }, (_, index) => `m${index}`);
    for (const body of bodies) await send(body);

    const received = (await receive()).map(({ Body }) => Body);

    expect(received).not.toEqual(bodies);
    expect(received.toSorted()).toEqual(bodies.toSorted());
  });
});

describe("a FIFO queue with a backlog", () => {
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-key-terms.html
  it("delivers nothing from groups after the messages that it scans", async () => {
    const { send, receive, remove } = await givenQueue("q.fifo", { maxScanned: 4 });
    for (const body of ["a1", "a2", "a3", "a4", "a5"]) await send(body, "a");
    await send("b1", "b");

    const [first] = await receive(1);
    expect(first?.Body).toBe("a1");
    expect(await receive()).toEqual([]);

    await remove(first?.ReceiptHandle ?? "");
    expect((await receive()).map(({ Body }) => Body)).toEqual(["a2", "a3", "a4", "a5"]);
  });
});
