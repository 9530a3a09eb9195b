// Functions that are fed from queues, on a clock that the tests move.
import { GetQueueAttributesCommand, SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, describe, expect, it } from "vitest";
import { fakeClock } from "../../../../lib/testing/fake-clock.ts";
import { inlineFunction, type StackUnderTest, startTemplate, until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Delivery {
  readonly bodies: string[];
}

/** Prints the bodies of its batch, then does what the test says. */
const consumer = (rest = "") =>
  inlineFunction(`print({ bodies: event.Records.map((each) => each.body) }); ${rest}`);

const FAILS_BAD =
  'return { batchItemFailures: event.Records.filter((each) => each.body.startsWith("bad"))' +
  ".map((each) => ({ itemIdentifier: each.messageId })) };";

const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });

interface Setup {
  readonly consume?: object;
  readonly queue?: object;
  readonly mapping?: object;
}

/** One queue with a dead-letter queue after two receives, and one consumer. */
async function start({ consume = consumer(), queue = {}, mapping = {} }: Setup) {
  const clock = fakeClock();
  const FifoQueue = "FifoQueue" in queue ? { FifoQueue: true } : {};
  const RedrivePolicy = { deadLetterTargetArn: arnOf("Failed"), maxReceiveCount: 2 };
  const Properties = { RedrivePolicy, VisibilityTimeout: 30, ...queue };
  const stack = await startTemplate(
    {
      Failed: { Type: "AWS::SQS::Queue", Properties: FifoQueue },
      Jobs: { Type: "AWS::SQS::Queue", Properties },
      Consume: consume,
      Mapping: {
        Type: "AWS::Lambda::EventSourceMapping",
        Properties: {
          EventSourceArn: arnOf("Jobs"),
          FunctionName: { Ref: "Consume" },
          FunctionResponseTypes: ["ReportBatchItemFailures"],
          ...mapping,
        },
      },
    },
    cleanups,
    { clock },
  );
  const client = new SQSClient({
    endpoint: stack.endpoints.sqs,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  cleanups.push(async () => client.destroy());

  async function send(...bodies: string[]): Promise<void> {
    const Entries = bodies.map((body, index) => ({
      Id: String(index),
      MessageBody: body,
      // In a FIFO queue the group is what stands before the number: `a1`.
      ...("FifoQueue" in queue && {
        MessageGroupId: body.replace(/\d+$/, ""),
        MessageDeduplicationId: body,
      }),
    }));
    await client.send(new SendMessageBatchCommand({ QueueUrl: stack.queues.Jobs?.url, Entries }));
  }
  /** Visible, in flight. */
  const counts = async (path = "Jobs"): Promise<[number, number]> => {
    const QueueUrl = stack.queues[path]?.url;
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
    );
    const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = Attributes;
    return [Number(ApproximateNumberOfMessages), Number(ApproximateNumberOfMessagesNotVisible)];
  };
  return { stack, clock, send, counts };
}

const deliveries = (stack: StackUnderTest) =>
  stack.printed<Partial<Delivery>>().flatMap(({ bodies }) => (bodies ? [bodies] : []));
const batches = (stack: StackUnderTest, count: number) =>
  until(() => {
    const lines = stack.lines.filter((line) => line.includes("batch of"));
    return lines.length >= count && lines;
  });

describe("AWS::Lambda::EventSourceMapping of a queue", () => {
  it("delivers messages as Lambda does, and deletes them", async () => {
    const { stack, send, counts } = await start({ consume: inlineFunction("print(event)") });

    await send("a");
    await batches(stack, 1);

    expect(stack.printed()).toEqual([
      {
        Records: [
          {
            messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
            receiptHandle: expect.any(String),
            body: "a",
            attributes: expect.objectContaining({ ApproximateReceiveCount: "1" }),
            messageAttributes: {},
            md5OfBody: "0cc175b9c0f1b6a831c399e269772661",
            eventSource: "aws:sqs",
            eventSourceARN: stack.queues.Jobs?.arn,
            awsRegion: "us-east-1",
          },
        ],
      },
    ]);
    expect(await counts()).toEqual([0, 0]);
    expect(stack.eventSources.Mapping).toMatchObject({ enabled: true, logicalId: "Mapping" });
  });

  it("H27: brings back only the items that failed, and puts them into the dead-letter queue in the end", async () => {
    const { stack, clock, send, counts } = await start({ consume: consumer(FAILS_BAD) });

    await send("good-1", "bad-2", "good-3");
    const [line] = await batches(stack, 1);
    const afterFirst = await counts();
    await clock.advance(30_000);
    await batches(stack, 2);
    await clock.advance(30_000);
    const failed = await until(async () => (await counts("Failed"))[0]);

    expect(line).toBe("Jobs → Consume: batch of 3 ok, 1 failed 0 ms");
    expect(afterFirst).toEqual([0, 1]);
    expect(deliveries(stack)).toEqual([["good-1", "bad-2", "good-3"], ["bad-2"]]);
    expect(failed).toBe(1);
    expect(await counts()).toEqual([0, 0]);
  });

  it.each([
    ["throws", "throw new Error('no')"],
    ["ends its process", "process.exit(1)"],
    ["names an item that is not in the batch", "return { batchItemFailures: [{ itemIdentifier: 'other' }] }"],
    ["names an item by the empty string", "return { batchItemFailures: [{ itemIdentifier: '' }] }"],
  ])("H27: brings back the whole batch when the function %s", async (_, rest) => {
    const { stack, clock, send } = await start({ consume: consumer(rest) });

    await send("1", "2");
    await batches(stack, 1);
    await clock.advance(30_000);
    await batches(stack, 2);

    expect(deliveries(stack)).toEqual([
      ["1", "2"],
      ["1", "2"],
    ]);
  });

  it("ignores reported failures if the mapping doesn't enable them", async () => {
    const { stack, send, counts } = await start({
      consume: consumer(FAILS_BAD),
      mapping: { FunctionResponseTypes: [] },
    });

    await send("bad-1");
    await batches(stack, 1);

    expect(await counts()).toEqual([0, 0]);
  });

  it("delivers no more than the batch size at a time", async () => {
    const { stack, send } = await start({ mapping: { BatchSize: 2 } });

    await send("1", "2", "3", "4", "5");
    await until(() => deliveries(stack).flat().length === 5);

    expect(Math.max(...deliveries(stack).map((bodies) => bodies.length))).toBe(2);
  });

  it("fills a batch up while its window lasts", async () => {
    const { stack, clock, send, counts } = await start({
      mapping: {
        BatchSize: 100,
        MaximumBatchingWindowInSeconds: 5,
        ScalingConfig: { MaximumConcurrency: 1 },
      },
    });

    await send("1");
    await until(async () => (await counts())[1] === 1);
    await clock.advance(4000);
    await send("2");
    await until(async () => (await counts())[1] === 2);
    await clock.advance(1000);
    await batches(stack, 1);

    expect(deliveries(stack)).toEqual([["1", "2"]]);
  });

  it("gives the function no more concurrent batches than the concurrency allows", async () => {
    const { stack, send } = await start({
      consume: consumer("await new Promise((resolve) => setTimeout(resolve, 50));"),
      mapping: { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 2 } },
    });

    await send("1", "2", "3", "4", "5");
    await batches(stack, 5);

    let running = 0;
    const together = stack.lines.map((line) => {
      if (line.includes('"bodies"')) running++;
      if (line.includes("batch of")) running--;
      return running;
    });
    expect(Math.max(...together)).toBe(2);
  });

  it("H26: holds back the messages after a failed one in its group, and lets other groups continue", async () => {
    const rest =
      'const failed = event.Records.findIndex((each) => each.body === "a1" && each.attributes.ApproximateReceiveCount === "1");' +
      "if (failed < 0) return; const of = (each) => each.attributes.MessageGroupId;" +
      "return { batchItemFailures: event.Records.filter((each, at) => at >= failed && of(each) === 'a')" +
      ".map((each) => ({ itemIdentifier: each.messageId })) };";
    const { stack, clock, send } = await start({ consume: consumer(rest), queue: { FifoQueue: true } });

    await send("a1", "a2", "b1");
    await until(
      () => deliveries(stack).flat().includes("b1") && stack.lines.some((line) => line.includes("failed")),
    );
    await send("a3", "b2");
    await until(() => deliveries(stack).flat().includes("b2"));
    const before = deliveries(stack).flat();
    await clock.advance(30_000);
    await until(() => deliveries(stack).flat().includes("a3"));
    const after = deliveries(stack).flat().slice(before.length);

    expect(before).not.toContain("a3");
    expect(after).toEqual(["a1", "a2", "a3"]);
  });

  it("deletes messages that its filters keep out", async () => {
    const Pattern = JSON.stringify({ body: { kind: ["paid"] } });
    const { stack, send, counts } = await start({ mapping: { FilterCriteria: { Filters: [{ Pattern }] } } });

    await send('{"kind":"paid"}', '{"kind":"created"}', "text");
    await batches(stack, 1);

    expect(deliveries(stack)).toEqual([['{"kind":"paid"}']]);
    expect(await counts()).toEqual([0, 0]);
  });

  it("receives nothing while it is disabled, and continues when it is enabled", async () => {
    const { stack, send, counts } = await start({ mapping: { Enabled: false } });

    await send("a");
    const waiting = await counts();
    stack.eventSources.Mapping?.enable();
    await batches(stack, 1);
    stack.eventSources.Mapping?.disable();
    await send("b");

    expect(waiting).toEqual([1, 0]);
    expect(await counts()).toEqual([1, 0]);
    expect(deliveries(stack)).toEqual([["a"]]);
  });

  it("is rejected, as on AWS, if messages come back before the function's time is up", async () => {
    await expect(start({ queue: { VisibilityTimeout: 2 } })).rejects.toThrow(
      "the queue's visibility timeout of 2 s is shorter than the function's timeout of 3 s",
    );
  });

  it("names the sources that it does not run", async () => {
    const { stack } = await start({
      mapping: { EventSourceArn: "arn:aws:kinesis:us-east-1:000000000000:stream/s" },
    });

    expect(stack.notRun).toEqual([
      "AWS::Lambda::EventSourceMapping Mapping (Mapping): event sources of kinesis don't run, " +
        "only queues and DynamoDB streams do",
    ]);
  });

  it("stops while a function has a batch", async () => {
    const { stack, send } = await start({
      consume: consumer("await new Promise(() => setTimeout(() => {}, 60000));"),
    });
    await send("a");
    await until(() => deliveries(stack).length === 1);

    await stack.stop();

    expect(stack.lines.filter((line) => line.includes("tried again"))).toEqual([]);
  });
});
