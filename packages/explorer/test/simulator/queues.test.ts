// Queues as SQS has them on its bad days: repetitions, any order, backlogs and quotas.
import { SQS } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { Simulator } from "../../lib/simulator/simulator.ts";

interface SqsEvent {
  readonly Records: readonly { readonly body: string }[];
}

const sqs = new SQS();
const bodies = Array.from({ length: 40 }, (_, index) => `m${index}`);

async function deliveriesOf(aws: Simulator, queueUrl: string): Promise<string[]> {
  const seen: string[] = [];
  const fn = aws.lambda(({ Records }: SqsEvent) => {
    seen.push(...Records.map(({ body }) => body));
  });
  aws.connectQueue(fn, { queueUrl });
  await aws.run(async () => {
    for (const MessageBody of bodies) await aws.sqs.call("SendMessage", { QueueUrl: queueUrl, MessageBody });
    await aws.untilIdle();
  });
  return seen;
}

describe("a standard queue", () => {
  it("repeats and shuffles by itself if configured, the same way for the same seed", async () => {
    const play = (seed: number) => {
      const aws = new Simulator({ seed });
      return deliveriesOf(aws, aws.queue("work", { repeats: 0.2, shuffles: true }));
    };
    const seen = await play(1);

    expect(seen.length).toBeGreaterThan(40);
    expect(new Set(seen)).toEqual(new Set(bodies));
    expect([...new Set(seen)]).not.toEqual(bodies);
    expect(await play(1)).toEqual(seen);
    expect(await play(2)).not.toEqual(seen);
  });

  it("is in order and without repetition else", async () => {
    const aws = new Simulator();

    expect(new Set(await deliveriesOf(aws, aws.queue("work"))).size).toBe(40);
  });

  it("alone may be so", () => {
    const aws = new Simulator();

    expect(() => aws.queue("work.fifo", { repeats: 0.1 })).toThrow(
      "`repeats` only applies to standard queues",
    );
    expect(() => aws.queue("work", { fifo: true, shuffles: true })).toThrow(
      "`shuffles` only applies to standard queues",
    );
    expect(() => aws.queue("work", { repeats: 1 })).toThrow("repeats");
  });
});

describe("quotas", () => {
  /** Sends so many messages at once from one function, without the SDK's own retries. */
  async function sendAtOnce(aws: Simulator, QueueUrl: string, groups: readonly string[]) {
    const impatient = new SQS({ maxAttempts: 1 });
    const fn = aws.lambda(async () => {
      const sent = await Promise.allSettled(
        groups.map((MessageGroupId, index) =>
          impatient.sendMessage({
            QueueUrl,
            MessageBody: "x",
            MessageGroupId,
            MessageDeduplicationId: `${index}`,
          }),
        ),
      );
      return sent.filter(({ status }) => status === "rejected").length;
    });
    const invocation = await aws.run(() => fn.invoke({}));
    return invocation.outcome === "returned" && invocation.value;
  }

  it("throttle a FIFO queue by requests a second, or by those of each group", async () => {
    const quotas = { fifoCallsPerSecond: 5 };
    const groups = ["a", "a", "a", "a", "b", "b", "b", "b"];
    const plain = new Simulator({ quotas });
    const perGroup = new Simulator({ quotas });
    const hot = new Simulator({ quotas });

    expect(await sendAtOnce(plain, plain.queue("q.fifo"), groups)).toBe(3);
    expect(await sendAtOnce(perGroup, perGroup.queue("q.fifo", { perGroup: true }), groups)).toBe(0);
    expect(await sendAtOnce(hot, hot.queue("q.fifo", { perGroup: true }), groups.fill("a"))).toBe(3);
  });

  it("let through what the SDK sends again a second later", async () => {
    const aws = new Simulator({ quotas: { fifoCallsPerSecond: 2 } });
    const QueueUrl = aws.queue("q.fifo");
    const patient = new SQS({ maxAttempts: 10 });
    const send = (id: string) =>
      patient.sendMessage({ QueueUrl, MessageBody: "x", MessageGroupId: id, MessageDeduplicationId: id });
    const fn = aws.lambda(() => Promise.all(["a", "b", "c", "d"].map(send)));

    expect((await aws.run(() => fn.invoke({}))).outcome).toBe("returned");
    expect(aws.sqs.backlog(QueueUrl).messages).toBe(4);
    expect(aws.traceText()).toContain("RequestThrottled");
  });

  it("leave the test's own requests alone", async () => {
    const aws = new Simulator({ quotas: { fifoCallsPerSecond: 1 } });
    const QueueUrl = aws.queue("q.fifo");
    const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);

    await aws.run(() =>
      Promise.all(
        ids.map((id) =>
          sqs.sendMessage({ QueueUrl, MessageBody: id, MessageGroupId: "g", MessageDeduplicationId: id }),
        ),
      ),
    );

    expect(aws.sqs.backlog(QueueUrl).messages).toBe(20);
  });

  it("limit the messages in flight and those scanned", async () => {
    const aws = new Simulator({ quotas: { inFlight: 3, fifoScanned: 2 } });
    const QueueUrl = aws.queue("q.fifo");
    const receive = async () => {
      const answer = await aws.sqs.call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10 });
      return (answer.Messages ?? []).map(({ Body }) => Body);
    };
    for (const [body, group] of ["a1", "a2", "b1"].map((body) => [body, body[0]] as const)) {
      const ids = { MessageGroupId: group as string, MessageDeduplicationId: body };
      await aws.sqs.call("SendMessage", { QueueUrl, MessageBody: body, ...ids });
    }

    expect([await receive(), await receive()]).toEqual([["a1", "a2"], []]);
    expect(() => new Simulator({ quotas: { inFlight: 0 } })).toThrow("inFlight");
    expect(() => new Simulator({ quotas: { scanned: 1 } as never })).toThrow("scanned");
  });
});
