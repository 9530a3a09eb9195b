// Rules with event patterns, on events that the AWS SDK puts on their buses.
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeClock } from "../../../../lib/testing/fake-clock.ts";
import { inlineFunction, type StackUnderTest, startTemplate, until } from "./world.ts";

const clock = fakeClock(Date.parse("2030-01-01T00:00:00Z"));
const cleanups: (() => Promise<void>)[] = [];
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });
const target = (name: string, more: object = {}) => ({ Id: name, Arn: arnOf(name), ...more });
const rule = (EventPattern: unknown, Targets: object[], more: object = {}) => ({
  Type: "AWS::Events::Rule",
  Properties: { EventPattern, Targets, ...more },
});
const queue = (more: object = {}) => ({ Type: "AWS::SQS::Queue", Properties: more });

let stack: StackUnderTest;
let eventBridge: EventBridgeClient;
beforeAll(async () => {
  stack = await startTemplate(
    {
      Shop: { Type: "AWS::Events::EventBus", Properties: { Name: "shop" } },
      Print: inlineFunction("print(event);"),
      Jobs: queue(),
      Fifo: queue({ FifoQueue: true, ContentBasedDeduplication: true }),
      News: { Type: "AWS::SNS::Topic" },
      Both: rule({ source: ["shop"], "detail-type": ["Ordered"] }, [target("Print"), target("Jobs")]),
      Operators: rule(
        {
          detail: {
            path: [{ wildcard: "orders/*/paid" }],
            ip: [{ cidr: "10.0.0.0/24" }],
            name: [{ prefix: { "equals-ignore-case": "jo" } }],
            state: [{ "anything-but": { suffix: "ed" } }],
          },
        },
        [target("Jobs", { Input: '"all of them"' })],
      ),
      OnShop: rule(
        { detail: { $or: [{ a: [1] }, { b: [{ exists: true }] }] } },
        [
          target("Fifo", {
            SqsParameters: { MessageGroupId: "g" },
            InputTransformer: { InputPathsMap: { a: "$.detail.a" }, InputTemplate: '{"is":<a>}' },
          }),
        ],
        { EventBusName: { Ref: "Shop" } },
      ),
      Forward: rule({ source: ["forwarded"] }, [target("Shop")]),
      ToNews: rule({ source: ["news"] }, [{ Id: "News", Arn: { Ref: "News" } }]),
      Off: rule({ source: ["shop"] }, [target("Print")], { State: "DISABLED" }),
      Unknown: rule({ source: [{ sounds: "like" }] }, [target("Print")]),
      NoList: rule({ source: "shop" }, [target("Print")]),
      OfAws: rule({ source: ["aws.s3"] }, [target("Print")]),
      Nowhere: rule({ source: ["shop"] }, [target("Print")], { EventBusName: "theirs" }),
      Partly: rule({ source: ["partly"] }, [
        { Id: "Steps", Arn: "arn:aws:states:us-east-1:000000000000:stateMachine:s" },
        target("Fifo"),
        target("Jobs"),
      ]),
      Archive: { Type: "AWS::Events::Archive", Properties: { SourceArn: arnOf("Shop") } },
    },
    cleanups,
    { clock },
  );
  eventBridge = new EventBridgeClient({ endpoint: stack.endpoints.aws, region: "us-east-1", credentials });
});
afterAll(async () => {
  eventBridge?.destroy();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function put(Source: string, detail: object, more: object = {}) {
  const entry = { Source, DetailType: "Ordered", Detail: JSON.stringify(detail), ...more };
  const { Entries = [] } = await eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
  return Entries[0];
}

async function taken(path: string): Promise<unknown[]> {
  const response = await fetch(stack.endpoints.sqs, {
    method: "POST",
    headers: { "x-amz-target": "AmazonSQS.ReceiveMessage", "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify({ QueueUrl: stack.queues[path]?.url, MaxNumberOfMessages: 10 }),
  });
  const { Messages = [] } = (await response.json()) as { Messages?: { Body: string }[] };
  return Messages.map(({ Body }) => JSON.parse(Body));
}

describe("AWS::Events::Rule with a pattern", () => {
  it("gives the event to each of its targets: a function and a queue", async () => {
    const accepted = await put("shop", { id: "7" }, { Resources: ["r"] });
    await put("other shop", { id: "8" });
    await until(() => stack.printed().length > 0);

    const event = {
      version: "0",
      id: accepted?.EventId,
      "detail-type": "Ordered",
      source: "shop",
      account: "000000000000",
      time: "2030-01-01T00:00:00Z",
      region: "us-east-1",
      resources: ["r"],
      detail: { id: "7" },
    };
    expect(stack.printed()).toEqual([event]);
    expect(await taken("Jobs")).toEqual([event]);
    expect(stack.lines).toContain("Both → Jobs: sent");
  });

  it("knows the documented operators", async () => {
    const fits = { path: "orders/7/paid", ip: "10.0.0.7", name: "JOE", state: "new" };
    await put("operators", fits);
    for (const other of [
      { path: "orders/7/lost" },
      { ip: "10.0.1.7" },
      { ip: "here" },
      { name: "Jim" },
      { state: "closed" },
    ]) {
      await put("operators", { ...fits, ...other });
    }

    expect(await taken("Jobs")).toEqual(["all of them"]);
  });

  it("gets only its own bus's events, and those that a rule forwards to that", async () => {
    const EventBusName = "arn:aws:events:us-east-1:000000000000:event-bus/shop";
    await put("shop", { a: 1 }, { EventBusName });
    await put("elsewhere", { a: 1 });
    await put("forwarded", { a: 2, b: 0 });
    await until(() => stack.lines.filter((line) => line === "OnShop → Fifo: sent").length === 2);

    expect(await taken("Fifo")).toEqual([{ is: 1 }, { is: 2 }]);
  });

  it("publishes to a topic", async () => {
    await put("news", {});

    await until(() => stack.lines.includes("ToNews → News: sent"));
  });

  it("refuses a source of AWS, as EventBridge does", async () => {
    expect(await put("aws.s3", {})).toMatchObject({ ErrorCode: "NotAuthorizedForSourceException" });
  });

  it("explains each rule and target that it does not run", async () => {
    await put("partly", {});

    expect(await taken("Jobs")).toMatchObject([{ source: "partly" }]);
    const notRun = (name: string) => stack.notRun.filter((line) => line.includes(`Rule ${name} (`));
    expect(notRun("Off")).toEqual(["AWS::Events::Rule Off (Off): it is disabled"]);
    expect(notRun("Unknown")).toEqual([
      expect.stringMatching(/Event pattern is not valid.*unknown filter rule {"sounds":"like"}/),
    ]);
    expect(notRun("NoList")).toEqual([
      expect.stringMatching(/consists of objects and arrays of rules \(got "shop"/),
    ]);
    expect(notRun("OfAws")).toEqual([expect.stringMatching(/: AWS services don't send events locally$/)]);
    expect(notRun("Nowhere")).toEqual([expect.stringMatching(/Event bus theirs does not exist/)]);
    expect(notRun("Partly")).toEqual([
      expect.stringMatching(/:stateMachine:s isn't a function, queue or topic of this run$/),
      expect.stringMatching(/SqsParameters must be specified for target: Fifo/),
    ]);
    expect(stack.notRun).toHaveLength(8);
  });
});
