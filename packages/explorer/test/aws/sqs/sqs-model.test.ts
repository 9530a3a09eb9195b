import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../../../lib/testing/fake-clock.ts";
import { fakeRandom } from "../../../../../lib/testing/fake-random.ts";
import { untilSleeping } from "../../../../../test/kit/time/until-sleeping.ts";
import { isFull } from "../../../../../test/setup/tier.ts";
import type { SqsOperationName } from "../../../lib/aws/sqs/operations.ts";
import { SqsModel } from "../../../lib/aws/sqs/sqs-model.ts";
import { sqsCases } from "./cases/all.ts";
import { newFifo, newQueue, receive, refused, send, sendToGroups } from "./cases/case.ts";
import { modelSubject, type SqsSubject } from "./cases/subject.ts";

const subjectOf = (model: SqsModel): SqsSubject => ({
  call: (name, input) => model.call(name, input),
  stop: async () => model.close(),
});

describe("SqsModel", () => {
  for (const [topic, cases] of Object.entries(sqsCases)) {
    describe(topic, () => {
      for (const { title, run } of cases) it(title, () => run(modelSubject()));
    });
  }

  it("names a source for every case, and titles each once", () => {
    const cases = Object.values(sqsCases).flat();

    for (const { source } of cases) expect(source).toMatch(/^https:\/\/(docs\.aws\.amazon|github)\.com\//);
    expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  });

  it("gives the same ids for the same randomness", async () => {
    const idOf = async () => {
      const sqs = subjectOf(new SqsModel({ clock: fakeClock(), random: fakeRandom(1) }));
      return (await send(sqs, await newQueue(sqs), "a")).MessageId;
    };

    expect(await idOf()).toBe(await idOf());
  });

  it("keeps its stored values apart from its inputs and outputs", async () => {
    const sqs = subjectOf(new SqsModel({ clock: fakeClock() }));
    const queue = await newQueue(sqs, { VisibilityTimeout: "0" });
    const bytes = new Uint8Array([1]);
    const MessageAttributes = { bytes: { DataType: "Binary", BinaryValue: bytes } };
    await send(sqs, queue, { MessageBody: "a", MessageAttributes });

    bytes[0] = 2;
    const [first] = await receive(sqs, queue);
    first?.MessageAttributes?.bytes?.BinaryValue?.set([3]);

    const [second] = await receive(sqs, queue);
    expect(second?.MessageAttributes?.bytes?.BinaryValue).toEqual(new Uint8Array([1]));
  });

  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
  it("refuses a short poll of a standard queue, and starves a long one, while too much is in flight", async () => {
    const clock = fakeClock();
    const sqs = subjectOf(new SqsModel({ clock, maxInFlight: 2 }));
    const queue = await newQueue(sqs);
    for (const body of ["a", "b", "c"]) await send(sqs, queue, body);

    expect(await receive(sqs, queue)).toHaveLength(2);
    await refused(receive(sqs, queue), "OverLimit");
    expect(await clock.run(receive(sqs, queue, { WaitTimeSeconds: 20 }))).toEqual([]);
    await clock.advance(10_000);
    expect(await receive(sqs, queue)).toHaveLength(2);
  });

  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-fifo.html
  if (isFull) {
    it("hands out nothing of a FIFO queue, without an error, while 120000 messages are in flight", async () => {
      const model = new SqsModel({ clock: fakeClock() });
      const sqs = subjectOf(model);
      const QueueUrl = await newFifo(sqs);
      for (let batch = 0; batch < 12_001; batch++) {
        const Entries = Array.from({ length: 10 }, (_, index) => {
          const id = `${batch}-${index}`;
          return { Id: id, MessageBody: "x", MessageGroupId: id, MessageDeduplicationId: id };
        });
        await model.call("SendMessageBatch", { QueueUrl, Entries });
      }
      let received = 0;
      for (let count = 10; count === 10; received += count) {
        const { Messages = [] } = await model.call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10 });
        count = Messages.length;
      }

      expect(received).toBe(120_000);
    });
  }

  it("receives nothing for a receiver that stopped waiting", async () => {
    const clock = fakeClock();
    const model = new SqsModel({ clock });
    const sqs = subjectOf(model);
    const QueueUrl = await newQueue(sqs);
    const gone = new AbortController();
    const waiting = model.call("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 20 }, gone.signal);
    await untilSleeping(clock);

    gone.abort();
    await send(sqs, QueueUrl, "a");

    expect(await waiting).toEqual({});
    expect(await receive(sqs, QueueUrl)).toHaveLength(1);
  });

  it("ends waiting receivers when it is closed", async () => {
    const clock = fakeClock();
    const model = new SqsModel({ clock });
    const sqs = subjectOf(model);
    const waiting = receive(sqs, await newQueue(sqs), { WaitTimeSeconds: 20 });
    await untilSleeping(clock);

    model.close();

    expect(await waiting).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });

  it("moves a dead letter on to the dead-letter queue of the dead-letter queue", async () => {
    const sqs = subjectOf(new SqsModel({ clock: fakeClock() }));
    const arnIn = (queue: string) => `arn:aws:sqs:us-east-1:000000000000:${queue.replace(/^.*\//, "")}`;
    const policyTo = (queue: string) => ({
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnIn(queue), maxReceiveCount: 1 }),
    });
    const last = await newFifo(sqs);
    const middle = await newFifo(sqs, policyTo(last));
    const first = await newFifo(sqs, policyTo(middle));
    await sendToGroups(sqs, first, "g-1");
    const counts: number[][] = [];

    for (let round = 0; round < 4; round++) {
      const received: number[] = [];
      for (const queue of [first, middle, last]) {
        received.push((await receive(sqs, queue, { VisibilityTimeout: 0 })).length);
      }
      counts.push(received);
    }

    expect(counts).toEqual([
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
      [0, 0, 1],
    ]);
  });

  it("refuses an operation it does not have", async () => {
    const model = new SqsModel();

    await refused(
      model.call("AddPermission" as SqsOperationName, { QueueUrl: "" } as never),
      "UnknownOperationException",
    );
  });
});
