import { type CfnElement, Duration, RemovalPolicy } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { outboxIn, templateWith } from "./outbox-relay-given.ts";

const IN_TRANSACTIONS = {
  "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
};
const SENDS = [
  { on: "Table", actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"] },
  { on: "Table", actions: ["dynamodb:DeleteItem"], condition: IN_TRANSACTIONS },
];
const LOGS = ["logs:CreateLogStream", "logs:PutLogEvents"];

describe("OutboxRelay", () => {
  it("feeds the relay unsent messages only, from the stream's beginning, and retries for good", () => {
    templateWith().hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      EventSourceArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^Table"), "StreamArn"] },
      StartingPosition: "TRIM_HORIZON",
      BatchSize: 100,
      BisectBatchOnFunctionError: false,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      MaximumRetryAttempts: Match.absent(),
      MaximumRecordAgeInSeconds: Match.absent(),
      ParallelizationFactor: Match.absent(),
      DestinationConfig: Match.absent(),
      FilterCriteria: {
        Filters: [
          { Pattern: JSON.stringify({ dynamodb: { NewImage: { unsentSince: { N: [{ exists: true }] } } } }) },
        ],
      },
    });
  });

  it("sweeps every minute", () => {
    templateWith().hasResourceProperties("AWS::Events::Rule", {
      ScheduleExpression: "rate(1 minute)",
      Targets: [{ Arn: { "Fn::GetAtt": [Match.stringLikeRegexp("^OutboxSweeper"), "Arn"] } }],
    });
  });

  it("runs two functions that came with the package", () => {
    const template = templateWith();

    template.resourceCountIs("AWS::Lambda::Function", 2);
    template.allResourcesProperties("AWS::Lambda::Function", {
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Timeout: 30,
      MemorySize: 512,
      LoggingConfig: Match.objectLike({ LogFormat: "JSON" }),
      Environment: { Variables: { IDEMPOTENCY_TABLE: { Ref: Match.stringLikeRegexp("^Table") } } },
    });
    const functions = Object.values(template.findResources("AWS::Lambda::Function"));
    expect(functions.map(({ Properties }) => Properties.Handler)).toEqual(["index.relay", "index.sweeper"]);
    expect(new Set(functions.map(({ Properties }) => Properties.Code.S3Key)).size).toBe(1);
  });

  it("lets the relay read the stream, mark and send, and nothing else", () => {
    expect(rightsOf(templateWith(), "OutboxRelayRole")).toEqual([
      { on: "OutboxRelayLogs", actions: LOGS },
      ...SENDS,
      { on: "Table.StreamArn", actions: ["dynamodb:ListStreams"] },
      {
        on: "Table.StreamArn",
        actions: ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
      },
      { on: "Queue", actions: ["sqs:SendMessage"] },
    ]);
  });

  it("lets the sweeper search the one index, mark and send, and nothing else", () => {
    expect(rightsOf(templateWith(), "OutboxSweeperRole")).toEqual([
      { on: "OutboxSweeperLogs", actions: LOGS },
      ...SENDS,
      { on: "Table/index/outbox", actions: ["dynamodb:Query"] },
      { on: "Queue", actions: ["sqs:SendMessage"] },
    ]);
  });

  it("gives no function a managed policy", () => {
    templateWith().allResourcesProperties("AWS::IAM::Role", { ManagedPolicyArns: Match.absent() });
  });

  it("sends metrics under other names, if they are given", () => {
    const named = { METRICS_SERVICE: "shop", METRICS_NAMESPACE: "Shop" };

    templateWith({ service: "shop", namespace: "Shop" }).allResourcesProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike(named) },
    });
  });

  it("passes another number of shards to both functions, and rejects a value that isn't one", () => {
    templateWith({ shards: 16 }).allResourcesProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ OUTBOX_SHARDS: "16" }) },
    });
    for (const shards of [0, 1.5, 1001, Number.NaN]) {
      expect(() => templateWith({ shards })).toThrow(`is ${shards}: use a whole number from 1 to 1000`);
    }
  });

  it("has its table's shards, or more of them, so they can be raised here first", () => {
    const shardsWith = (outboxShards: number | undefined, shards?: number) => {
      const stack = unitStack();
      const table = new IdempotencyTable(stack, "Table", { outbox: true, outboxShards });
      const { queue } = new DedupQueue(stack, "Queue");
      const { relay } = new OutboxRelay(stack, "Outbox", { table, destinations: [queue], shards });
      const { Properties } =
        Template.fromStack(stack).findResources("AWS::Lambda::Function")[
          stack.getLogicalId(relay.node.defaultChild as CfnElement)
        ]!;
      return Properties.Environment.Variables.OUTBOX_SHARDS;
    };

    expect([shardsWith(undefined), shardsWith(16), shardsWith(16, 32)]).toEqual(["8", "16", "32"]);
    expect(() => shardsWith(16, 8)).toThrow(
      "shards of Test/Outbox is 8, but outboxShards of Test/Table is 16: messages in the other shards would never be found",
    );
    for (const shards of [0, 1.5, 1001]) {
      expect(() => shardsWith(shards)).toThrow(`outboxShards of Test/Table is ${shards}: use a whole number`);
    }
  });

  it("accepts other numbers", () => {
    const template = templateWith({
      batchSize: 10,
      retryAttempts: 3,
      maxRecordAge: Duration.hours(24),
      sweepInterval: Duration.minutes(5),
      timeout: Duration.minutes(1),
      memorySize: 1024,
      logRetention: RetentionDays.ONE_WEEK,
      logRemovalPolicy: RemovalPolicy.DESTROY,
    });

    template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      BatchSize: 10,
      MaximumRetryAttempts: 3,
      MaximumRecordAgeInSeconds: 86_400,
    });
    template.hasResourceProperties("AWS::Events::Rule", { ScheduleExpression: "rate(5 minutes)" });
    template.allResourcesProperties("AWS::Lambda::Function", { Timeout: 60, MemorySize: 1024 });
    template.allResources("AWS::Logs::LogGroup", {
      DeletionPolicy: "Delete",
      Properties: Match.objectLike({ RetentionInDays: 7 }),
    });
  });

  it("sends a standard queue what the relay gave up", () => {
    const stack = unitStack();
    const onFailureQueue = new Queue(stack, "GivenUp");
    outboxIn(stack, { onFailureQueue, destinations: [new Queue(stack, "Queue")] });

    const template = Template.fromStack(stack);
    template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      DestinationConfig: {
        OnFailure: { Destination: { "Fn::GetAtt": [Match.stringLikeRegexp("^GivenUp"), "Arn"] } },
      },
    });
    const sending = rightsOf(template, "OutboxRelayRole").find(({ on }) => on === "GivenUp");
    expect(sending?.actions).toContain("sqs:SendMessage");
    expect(JSON.stringify(onFailureQueue.node.metadata)).toContain("AwsSolutions-SQS3");
  });

  it("exposes its parts", () => {
    const { relay, sweeper, sweeping } = outboxIn(unitStack());

    expect([relay, sweeper, sweeping].map(({ node }) => node.path)).toEqual([
      "Test/Outbox/Relay",
      "Test/Outbox/Sweeper",
      "Test/Outbox/Sweep",
    ]);
  });

  it("measures how far it lags", () => {
    const outbox = outboxIn(unitStack());

    expect(outbox.metricIteratorAge()).toMatchObject({
      metricName: "IteratorAge",
      statistic: "Maximum",
      dimensions: { FunctionName: outbox.relay.functionName },
    });
  });
});
