// Topics of a template, published to by the AWS SDK, on a clock that the tests move.
import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeClock } from "../../../../lib/testing/fake-clock.ts";
import { inlineFunction, type StackUnderTest, startTemplate, until } from "./world.ts";

const clock = fakeClock(Date.parse("2030-01-01T00:00:00Z"));
const cleanups: (() => Promise<void>)[] = [];
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });
const subscription = (Protocol: string, Endpoint: unknown, more: object = {}) => ({
  Type: "AWS::SNS::Subscription",
  Properties: { TopicArn: { Ref: "News" }, Protocol, Endpoint, ...more },
});
const queue = { Type: "AWS::SQS::Queue" };

let stack: StackUnderTest;
let sns: SNSClient;
beforeAll(async () => {
  stack = await startTemplate(
    {
      News: { Type: "AWS::SNS::Topic", Properties: { TopicName: "news" } },
      Big: { Type: "AWS::SNS::Topic", Properties: { TopicName: "big", MaximumMessageSize: 1_048_576 } },
      Full: { ...queue, Properties: { MaximumMessageSize: 1_048_576 } },
      ToFull: {
        Type: "AWS::SNS::Subscription",
        Properties: {
          TopicArn: { Ref: "Big" },
          Protocol: "sqs",
          Endpoint: arnOf("Full"),
          RawMessageDelivery: true,
        },
      },
      Wrapped: queue,
      Raw: queue,
      Large: queue,
      Tiny: { ...queue, Properties: { MaximumMessageSize: 1024 } },
      Lost: queue,
      Print: inlineFunction(
        "print({ event, requestId: context.awsRequestId }); await new Promise((done) => setTimeout(done, event.Records[0].Sns.Message === 'slow' ? 3_600_000 : 0));",
        { Timeout: 60 },
      ),
      ToWrapped: subscription("sqs", arnOf("Wrapped")),
      ToWrappedAgain: subscription("sqs", arnOf("Wrapped")),
      ToRaw: subscription("sqs", arnOf("Raw"), { RawMessageDelivery: true }),
      ToLarge: subscription("sqs", arnOf("Large"), {
        RawMessageDelivery: true,
        FilterPolicy: { size: [{ numeric: [">=", 100] }], shop: [{ "anything-but": "closed" }] },
      }),
      ToTiny: subscription("sqs", arnOf("Tiny"), {
        FilterPolicyScope: "MessageBody",
        FilterPolicy: { deep: { kind: ["big"] } },
        RedrivePolicy: { deadLetterTargetArn: arnOf("Lost") },
      }),
      ToPrint: subscription("lambda", arnOf("Print")),
      ByMail: subscription("email", "shop@example.com"),
      Elsewhere: subscription("sqs", "arn:aws:sqs:us-east-1:111111111111:theirs"),
      Wild: subscription("sqs", arnOf("Lost"), { FilterPolicy: { shop: [{ wildcard: "a*" }] } }),
    },
    cleanups,
    { clock, outputs: { Ref: { Ref: "News" } } },
  );
  sns = new SNSClient({ endpoint: stack.endpoints.aws, region: "us-east-1", credentials });
});
afterAll(async () => {
  sns?.destroy();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const text = (StringValue: string, DataType = "String") => ({ DataType, StringValue });

async function publish(Message: string, MessageAttributes = {}): Promise<string | undefined> {
  const TopicArn = stack.topics.News?.arn;
  const { MessageId } = await sns.send(new PublishCommand({ TopicArn, Message, MessageAttributes }));
  return MessageId;
}

/** Takes all messages of a queue through the engine that functions talk to. */
async function taken(path: string): Promise<{ Body: string; MessageAttributes?: object }[]> {
  const input = {
    QueueUrl: stack.queues[path]?.url,
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ["All"],
  };
  const response = await fetch(stack.endpoints.sqs, {
    method: "POST",
    headers: { "x-amz-target": "AmazonSQS.ReceiveMessage", "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify(input),
  });
  const { Messages = [] } = (await response.json()) as {
    Messages?: { Body: string; MessageAttributes?: object }[];
  };
  return Messages;
}

interface Seen {
  readonly event: { readonly Records: readonly { readonly Sns: { readonly Message: string } }[] };
  readonly requestId: string;
}

const seenBy = (message: string) =>
  stack.printed<Seen>().filter(({ event }) => event.Records[0]?.Sns.Message === message);

describe("AWS::SNS::Topic", () => {
  it("sends each message once to a queue that is subscribed twice, in its envelope, and raw if configured", async () => {
    const MessageId = await publish("hello", { shop: text("closed") });

    const [envelope, ...more] = await taken("Wrapped");
    expect(more).toEqual([]);
    expect(JSON.parse(envelope?.Body ?? "")).toEqual({
      Type: "Notification",
      MessageId,
      TopicArn: "arn:aws:sns:us-east-1:000000000000:news",
      Message: "hello",
      Timestamp: "2030-01-01T00:00:00.000Z",
      SignatureVersion: "1",
      Signature: expect.any(String),
      SigningCertURL: expect.stringMatching(/^https:/),
      UnsubscribeURL: expect.stringMatching(/^https:/),
      MessageAttributes: { shop: { Type: "String", Value: "closed" } },
    });
    expect(await taken("Raw")).toMatchObject([
      { Body: "hello", MessageAttributes: { shop: text("closed") } },
    ]);
    expect(stack.outputs.Ref).toBe("arn:aws:sns:us-east-1:000000000000:news");
  });

  it("F3: accepts messages up to its MaximumMessageSize, and other topics 256 KiB", async () => {
    const Message = "x".repeat(300_000);
    const to = (path: string) => sns.send(new PublishCommand({ TopicArn: stack.topics[path]?.arn, Message }));

    await to("Big");

    expect((await taken("Full")).map(({ Body }) => Body.length)).toEqual([300_000]);
    await expect(to("News")).rejects.toThrow("Message too long");
  });

  it("invokes a function with the event of SNS", async () => {
    const MessageId = await publish("to a function", { n: text("7", "Number") });
    await until(() => seenBy("to a function").length === 1);

    expect(seenBy("to a function")[0]?.event).toEqual({
      Records: [
        {
          EventSource: "aws:sns",
          EventVersion: "1.0",
          EventSubscriptionArn: expect.stringMatching(
            /^arn:aws:sns:us-east-1:000000000000:news:[0-9a-f-]{36}$/,
          ),
          Sns: {
            Type: "Notification",
            MessageId,
            TopicArn: stack.topics.News?.arn,
            Subject: null,
            Message: "to a function",
            Timestamp: "2030-01-01T00:00:00.000Z",
            SignatureVersion: "1",
            Signature: expect.any(String),
            SigningCertUrl: expect.stringMatching(/^https:/),
            UnsubscribeUrl: expect.stringMatching(/^https:/),
            MessageAttributes: { n: { Type: "Number", Value: "7" } },
          },
        },
      ],
    });
  });

  it("H41: delivers again, under the same request id, to a function that was killed", async () => {
    await publish("slow");
    await until(() => seenBy("slow").length === 1);
    stack.functions.Print?.host.kill();
    await until(() => stack.lines.some((line) => line.includes("retrying in 60 s")));

    await clock.advance(60_000);
    await until(() => seenBy("slow").length === 2);
    stack.functions.Print?.host.kill();

    expect(new Set(seenBy("slow").map(({ requestId }) => requestId)).size).toBe(1);
    expect(new Set(seenBy("slow").map(({ event }) => JSON.stringify(event))).size).toBe(1);
  });

  it("passes what a filter policy lets through, by attributes or by the body", async () => {
    await taken("Large");
    await publish("small", { size: text("99", "Number"), shop: text("open") });
    await publish("shut", { size: text("100", "Number"), shop: text("closed") });
    await publish("fits", { size: text("100", "Number"), shop: text("open") });
    await publish('{"deep":[{"kind":"little"},{"kind":"big"}]}');
    await publish('{"deep":{"kind":"little"}}');

    expect((await taken("Large")).map(({ Body }) => Body)).toEqual(["fits"]);
    expect((await taken("Tiny")).map(({ Body }) => JSON.parse(Body).Message)).toEqual([
      '{"deep":[{"kind":"little"},{"kind":"big"}]}',
    ]);
  });

  it("sends what a queue can't accept to the dead-letter queue of the subscription", async () => {
    const Message = JSON.stringify({ deep: { kind: "big" }, padding: "x".repeat(1024) });
    await publish(Message);

    expect(await taken("Tiny")).toEqual([]);
    expect((await taken("Lost")).map(({ Body }) => JSON.parse(Body).Message)).toEqual([Message]);
  });

  it("names the subscribers that it does not reach, and a filter rule that SNS does not know", () => {
    const theirs = "arn:aws:sqs:us-east-1:111111111111:theirs";
    expect(stack.notRun).toEqual([
      "AWS::SNS::Subscription ByMail (ByMail): email subscribers receive nothing, only queues and functions do",
      `AWS::SNS::Subscription Elsewhere (Elsewhere): ${theirs} isn't a queue of this run`,
      expect.stringMatching(
        /^AWS::SNS::Subscription Wild \(Wild\): .*unknown filter rule {"wildcard":"a\*"}/,
      ),
    ]);
  });
});
