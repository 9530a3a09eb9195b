// One-time schedules that a message producer creates by the AWS SDK, on a clock that the tests move.
import { CreateScheduleCommand, GetScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MessageProducer } from "../../../../lib/messaging/message-producer.ts";
import { fakeClock } from "../../../../lib/testing/fake-clock.ts";
import { inlineFunction, type StackUnderTest, startTemplate, until } from "./world.ts";

const START = Date.parse("2030-01-01T00:00:00Z");
const HOUR = 3_600_000;
const clock = fakeClock(START);
const cleanups: (() => Promise<void>)[] = [];
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const Arn = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });

let stack: StackUnderTest;
let client: SchedulerClient;
let producer: MessageProducer;
beforeAll(async () => {
  stack = await startTemplate(
    {
      Later: { Type: "AWS::Scheduler::ScheduleGroup", Properties: { Name: "later" } },
      Role: { Type: "AWS::IAM::Role", Properties: {} },
      Jobs: { Type: "AWS::SQS::Queue" },
      News: { Type: "AWS::SNS::Topic" },
      Print: inlineFunction("print(event);"),
      Feed: {
        Type: "AWS::Lambda::EventSourceMapping",
        Properties: { EventSourceArn: Arn("Jobs"), FunctionName: { Ref: "Print" } },
      },
      ToPrint: {
        Type: "AWS::SNS::Subscription",
        Properties: { TopicArn: { Ref: "News" }, Protocol: "lambda", Endpoint: Arn("Print") },
      },
      OnOrder: {
        Type: "AWS::Events::Rule",
        Properties: { EventPattern: { source: ["shop"] }, Targets: [{ Id: "Print", Arn: Arn("Print") }] },
      },
    },
    cleanups,
    {
      clock,
      outputs: { group: Arn("Later"), role: Arn("Role"), print: Arn("Print"), topic: { Ref: "News" } },
    },
  );
  client = new SchedulerClient({ endpoint: stack.endpoints.aws, region: "us-east-1", credentials });
  producer = new MessageProducer({
    clock,
    scheduler: { groupArn: `${stack.outputs.group}`, roleArn: `${stack.outputs.role}`, client },
  });
});
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const inAnHour = () => new Date(clock.now() + HOUR);
const remind = (more: object) => ({ body: { order: 7 }, key: "order-7", deliverAt: inAnHour(), ...more });
const toJobs = (more: object = {}) => remind({ queue: stack.queues.Jobs!.url, ...more }) as never;
const printed = (key: string) => stack.printed<object>().filter((each) => JSON.stringify(each).includes(key));

describe("EventBridge Scheduler in a local run", () => {
  it("has nothing to leave out", () => {
    expect(stack.notRun).toEqual([]);
  });

  it("sends a message with `deliverAt` once, when it's due, with its envelope", async () => {
    const message = toJobs({ key: "due" });

    const ends = [await producer.send(message), await producer.send(message)];
    await clock.advance(HOUR - 1000);
    const early = printed("due");
    await clock.advance(1000);
    await until(() => printed("due").length === 1);

    const [{ Records }] = printed("due") as [{ Records: { body: string; messageAttributes: never }[] }];
    expect(ends).toMatchObject([{ sent: true }, { sent: true }]);
    expect(early).toEqual([]);
    expect(Records.map(({ body }) => body)).toEqual(['{"order":7}']);
    expect(stack.lines.filter((line) => line.endsWith(": sent"))).toHaveLength(1);
    expect(await producer.cancel(message)).toBe(false);
  });

  it("sends nothing after it was canceled", async () => {
    const message = toJobs({ key: "canceled" });
    await producer.send(message);

    const canceled = [await producer.cancel(message), await producer.cancel(message)];
    await clock.advance(2 * HOUR);

    expect(canceled).toEqual([true, false]);
    expect(printed("canceled")).toEqual([]);
  });

  it("sends to topics and buses", async () => {
    await producer.send(remind({ topic: stack.outputs.topic, key: "topic-key" }) as never);
    await producer.send(
      remind({ bus: "default", source: "shop", detailType: "Reminded", key: "bus-key" }) as never,
    );

    await clock.advance(HOUR);
    await until(() => printed("topic-key").length === 1 && printed("bus-key").length === 1);

    expect(printed("bus-key")).toMatchObject([{ source: "shop", "detail-type": "Reminded" }]);
  });

  it("invokes a function, shows its schedule, and refuses what it doesn't serve", async () => {
    const create = (ScheduleExpression: string, target = `${stack.outputs.print}`) =>
      client.send(
        new CreateScheduleCommand({
          Name: "direct",
          ScheduleExpression,
          FlexibleTimeWindow: { Mode: "OFF" },
          Target: { Arn: target, RoleArn: `${stack.outputs.role}`, Input: '{"key":"direct"}' },
        }),
      );

    await expect(create("rate(1 hour)")).rejects.toThrow("can only create one-time schedules");
    await expect(create("at(tomorrow)")).rejects.toThrow("must be at(yyyy-mm-ddThh:mm:ss)");
    await expect(create("at(2031-01-01T00:00:00)", "arn:aws:lambda:us-east-1:1:function:x")).rejects.toThrow(
      "isn't a function, queue or topic of this run",
    );
    // In the past, so it's due now.
    await create("at(2029-01-01T00:00:00)");

    await until(() => printed("direct").length === 1);
    expect(await client.send(new GetScheduleCommand({ Name: "direct" }))).toMatchObject({
      ScheduleExpression: "at(2029-01-01T00:00:00)",
    });
    await expect(client.send(new GetScheduleCommand({ Name: "none" }))).rejects.toThrow("does not exist");
  });
});
