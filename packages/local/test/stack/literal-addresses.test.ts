// Stacks that say their account and region, as CDK synthesizes them: imports by name become literal ARNs and URLs.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { App, Stack } from "aws-cdk-lib";
import { DedupQueue } from "onceonly/cdk";
import { afterEach, describe, expect, inject, it } from "vitest";
import { type RunningStack, type StartStackOptions, startStack } from "../../lib/index.ts";
import { assemblyOf } from "./given.ts";
import { inlineFunction, until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const IRELAND = "aws://111111111111/eu-west-1";
const arnOf = (service: string, rest: string, account = "111111111111", region = "eu-west-1") =>
  `arn:aws:${service}:${region}:${account}:${rest}`;

async function start(
  templates: Record<string, Record<string, object>>,
  environments: Record<string, string>,
  options: Partial<StartStackOptions> = {},
): Promise<RunningStack & { readonly lines: string[] }> {
  const entries = Object.entries(templates).map(([name, Resources]) => [name, { Resources }]);
  const folder = await assemblyOf(Object.fromEntries(entries), environments);
  cleanups.push(() => rm(folder, { recursive: true }));
  const lines: string[] = [];
  const stack = await startStack({
    folder,
    dynamodbEndpoint: "http://127.0.0.1:9",
    log: (line) => lines.push(line),
    ...options,
  });
  cleanups.push(stack.stop);
  return { ...stack, lines };
}

const named = (FunctionName: string, body: string, more: object = {}) =>
  inlineFunction(body, { FunctionName, ...more });
const queue = (QueueName: string, more: object = {}) => ({
  Type: "AWS::SQS::Queue",
  Properties: { QueueName, ...more },
});
const mapping = (queueArn: string, FunctionName: string) => ({
  Type: "AWS::Lambda::EventSourceMapping",
  Properties: { EventSourceArn: queueArn, FunctionName, BatchSize: 1 },
});

async function send(stack: RunningStack, QueueUrl: string, MessageBody: string, more: object = {}) {
  const sqs = new SQSClient({
    endpoint: stack.endpoints.sqs,
    region: "eu-west-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }));
  sqs.destroy();
}

const printed = (lines: readonly string[], text: string) =>
  until(() => lines.some((line) => line.includes(text)));
const invoke = async (stack: RunningStack, path: string): Promise<unknown> => {
  const result = await stack.functions[path]?.host.invoke("{}");
  if (result?.outcome !== "ok") throw new Error(JSON.stringify(result));
  return JSON.parse(result.payload);
};

describe("literal addresses of a stack with an account and a region", () => {
  it("B13: a DedupQueue with a name runs, with its dead-letter queue", async () => {
    const app = new App();
    const env = { account: "111111111111", region: "eu-west-1" };
    new DedupQueue(new Stack(app, "Shop", { env }), "Payments", { queueName: "payments.fifo" });
    const folder = app.synth({ skipValidation: true }).directory;
    cleanups.push(() => rm(folder, { recursive: true }));

    const stack = await startStack({ folder, dynamodbEndpoint: "http://127.0.0.1:9" });
    cleanups.push(stack.stop);

    const arns = Object.values(stack.queues).map(({ arn }) => arn);
    expect(arns).toContain("arn:aws:sqs:eu-west-1:000000000000:payments.fifo");
    expect(arns).toHaveLength(2);
    expect(stack.notRun).toEqual([]);
  });

  it("B13: queues, topics, buses and functions that are imported by name lead to those of the run, in any order", async () => {
    const stack = await start(
      {
        App: {
          // Each comes before what it names, as the ids are sorted so.
          AMapping: mapping(arnOf("sqs", "jobs"), arnOf("lambda", "function:work")),
          ARule: {
            Type: "AWS::Events::Rule",
            Properties: {
              EventBusName: arnOf("events", "event-bus/shop"),
              EventPattern: { source: ["shop"] },
              Targets: [{ Id: "1", Arn: arnOf("sqs", "jobs") }],
            },
          },
          ASubscription: {
            Type: "AWS::SNS::Subscription",
            Properties: { TopicArn: arnOf("sns", "news"), Protocol: "sqs", Endpoint: arnOf("sqs", "jobs") },
          },
          Bus: { Type: "AWS::Events::EventBus", Properties: { Name: "shop" } },
          Jobs: queue("jobs"),
          News: { Type: "AWS::SNS::Topic", Properties: { TopicName: "news" } },
          Work: named("work", "print(event.Records[0].body)"),
        },
      },
      { App: IRELAND },
    );

    expect(stack.notRun).toEqual([]);
    await send(stack, String(stack.queues.Jobs?.url), "hello");
    await printed(stack.lines, '"hello"');
  });

  it("B13: two stacks may name each other's resources, in circles", async () => {
    const stack = await start(
      {
        Billing: {
          Bill: named("bill", "print(event.Records[0].body)"),
          Mapping: mapping(arnOf("sqs", "orders"), "bill"),
          Invoices: queue("invoices", {
            RedrivePolicy: { deadLetterTargetArn: arnOf("sqs", "lost", "222222222222"), maxReceiveCount: 3 },
          }),
        },
        Orders: {
          Orders: queue("orders"),
          Lost: queue("lost"),
          Ship: named("ship", "print(event.Records[0].body)"),
          Mapping: mapping(arnOf("sqs", "invoices"), "ship"),
        },
      },
      { Billing: IRELAND, Orders: "aws://222222222222/eu-west-1" },
    );

    expect(stack.notRun).toEqual([]);
    expect(Object.keys(stack.eventSources).sort()).toEqual(["Billing/Mapping", "Orders/Mapping"]);
    await send(stack, String(stack.queues["Billing/Invoices"]?.url), "invoice");
    await printed(stack.lines, '"invoice"');
  });

  it("B13: a policy that names a resource of a later stack holds nothing up", async () => {
    const policy = {
      Type: "AWS::IAM::Policy",
      Properties: {
        PolicyDocument: { Statement: [{ Action: "sqs:SendMessage", Resource: arnOf("sqs", "jobs") }] },
      },
    };
    const folder = await assemblyOf(
      {
        First: {
          Resources: { Policy: policy, Work: { ...named("work", "return 1"), DependsOn: ["Policy"] } },
          Outputs: { Arn: { Value: { "Fn::GetAtt": ["Work", "Arn"] }, Export: { Name: "WorkArn" } } },
        },
        Second: {
          Resources: {
            Jobs: queue("jobs"),
            Mapping: mapping(arnOf("sqs", "jobs"), "work"),
            Show: named("show", "return process.env.WORK", {
              Environment: { Variables: { WORK: { "Fn::ImportValue": "WorkArn" } } },
            }),
          },
        },
      },
      { First: IRELAND, Second: IRELAND },
    );
    cleanups.push(() => rm(folder, { recursive: true }));
    const stack = await startStack({ folder, dynamodbEndpoint: "http://127.0.0.1:9" });
    cleanups.push(stack.stop);

    expect(await invoke(stack, "Second/Show")).toBe(stack.functions["First/Work"]?.arn);
  });

  it("B13: a function finds the queue, topic and account that its environment names", async () => {
    const Variables = {
      URL: "https://sqs.eu-west-1.amazonaws.com/111111111111/jobs",
      OLD_URL: "https://eu-west-1.queue.amazonaws.com/111111111111/jobs",
      TOPIC: arnOf("sns", "news"),
      ACCOUNT: "111111111111",
      PSEUDO: { Ref: "AWS::AccountId" },
      BUCKET: "files-111111111111-eu-west-1",
      OTHER: arnOf("sqs", "jobs", "999999999999"),
      NUMBER: "1111111111112",
    };
    const stack = await start(
      {
        App: {
          Show: named("show", "return process.env", { Environment: { Variables } }),
          Jobs: queue("jobs"),
          News: { Type: "AWS::SNS::Topic", Properties: { TopicName: "news" } },
        },
      },
      { App: IRELAND },
    );

    const url = `${stack.endpoints.sqs}/000000000000/jobs`;
    expect(stack.queues.Jobs?.url).toBe(url);
    expect(await invoke(stack, "Show")).toMatchObject({
      URL: url,
      OLD_URL: url,
      TOPIC: stack.topics.News?.arn,
      ACCOUNT: "000000000000",
      PSEUDO: "000000000000",
      BUCKET: "files-000000000000-eu-west-1",
      OTHER: Variables.OTHER,
      NUMBER: Variables.NUMBER,
    });
  });

  it("B13: a queue of another account is named as not run, even if one here has its name", async () => {
    const foreign = arnOf("sqs", "jobs", "999999999999");
    const stack = await start(
      {
        App: {
          Jobs: queue("jobs", { RedrivePolicy: { deadLetterTargetArn: foreign, maxReceiveCount: 3 } }),
          Work: named("work", "return 1"),
          Mapping: mapping(foreign, "work"),
          Rule: {
            Type: "AWS::Events::Rule",
            Properties: {
              ScheduleExpression: "rate(1 hour)",
              Targets: [{ Id: "1", Arn: arnOf("lambda", "function:work", "999999999999") }],
            },
          },
        },
      },
      { App: IRELAND },
    );

    expect(stack.notRun).toEqual([
      `AWS::SQS::Queue Jobs (Jobs): its dead-letter queue ${foreign} isn't a queue of this run`,
      `AWS::Lambda::EventSourceMapping Mapping (Mapping): ${foreign} isn't a queue of this run`,
      expect.stringContaining("isn't a function, queue or topic of this run"),
    ]);
  });

  it("B13: in the second region of an app, literals lead to the one queue, topic and bus that run", async () => {
    const stack = await start(
      {
        Ireland: { Jobs: queue("jobs") },
        Frankfurt: {
          Bills: queue("bills"),
          Work: named("work", "return 1"),
          Mapping: mapping(arnOf("sqs", "bills", "111111111111", "eu-central-1"), "work"),
        },
      },
      { Ireland: IRELAND, Frankfurt: "aws://111111111111/eu-central-1" },
    );

    expect(stack.notRun).toEqual([]);
    expect(Object.keys(stack.eventSources)).toEqual(["Frankfurt/Mapping"]);
  });

  it("B13: conditions and mappings see the account of the stack", async () => {
    const folder = await assemblyOf(
      {
        App: {
          Conditions: { IsProduction: { "Fn::Equals": [{ Ref: "AWS::AccountId" }, "111111111111"] } },
          Mappings: { Names: { "111111111111": { queue: "production-jobs" } } },
          Resources: {
            Jobs: {
              ...queue(""),
              Condition: "IsProduction",
              Properties: { QueueName: { "Fn::FindInMap": ["Names", { Ref: "AWS::AccountId" }, "queue"] } },
            },
          },
        },
      },
      { App: IRELAND },
    );
    cleanups.push(() => rm(folder, { recursive: true }));
    const stack = await startStack({ folder, dynamodbEndpoint: "http://127.0.0.1:9" });
    cleanups.push(stack.stop);

    expect(stack.queues.Jobs?.name).toBe("production-jobs");
  });

  it("B13: the literals of a plain template, which names no account, lead to the local resource with that name", async () => {
    const folder = await mkdtemp(join(tmpdir(), "onceonly-test-template-"));
    cleanups.push(() => rm(folder, { recursive: true }));
    const Resources = {
      AMapping: mapping("arn:aws:sqs:us-east-1:123456789012:jobs", "work"),
      Jobs: queue("jobs"),
      Work: named("work", "return process.env.URL", {
        Environment: { Variables: { URL: "https://sqs.us-east-1.amazonaws.com/123456789012/jobs" } },
      }),
    };
    await writeFile(join(folder, "template.json"), JSON.stringify({ Resources }));
    const stack = await startStack({ folder, dynamodbEndpoint: "http://127.0.0.1:9" });
    cleanups.push(stack.stop);

    expect(stack.notRun).toEqual([]);
    expect(await invoke(stack, "Work")).toBe(stack.queues.Jobs?.url);
  });

  it("B13: the literal ARN of a table's stream is that of the stream here", async () => {
    const [engine] = inject("dynamodbEngines");
    const TableName = `orders-${Date.now()}`;
    const streamArn = arnOf("dynamodb", `table/${TableName}/stream/2026-01-31T08:00:00.000`);
    const stack = await start(
      {
        App: {
          AMapping: {
            Type: "AWS::Lambda::EventSourceMapping",
            Properties: { EventSourceArn: streamArn, FunctionName: "watch", StartingPosition: "LATEST" },
          },
          Orders: {
            Type: "AWS::DynamoDB::Table",
            Properties: {
              TableName,
              KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
              AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
              StreamSpecification: { StreamViewType: "NEW_IMAGE" },
            },
          },
          Watch: named("watch", "return process.env", {
            Environment: { Variables: { TABLE: arnOf("dynamodb", `table/${TableName}`) } },
          }),
        },
      },
      { App: IRELAND },
      { dynamodbEndpoint: engine?.endpoint },
    );

    expect(stack.notRun).toEqual([]);
    expect(stack.eventSources.AMapping?.sourceArn).toBe(stack.tables.Orders?.streamArn);
    expect(await invoke(stack, "Watch")).toMatchObject({ TABLE: stack.tables.Orders?.arn });
  });
});
