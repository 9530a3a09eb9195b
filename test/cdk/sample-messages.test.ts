// How messages travel in the sample stack: outbox, queue, dead-letter queue, and the functions on them.
import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { SampleStack } from "../../bin/sample-stack.ts";
import { unitApp } from "./app-given.ts";

const template = Template.fromStack(
  new SampleStack(unitApp(), "Sample", { ephemeral: false, tokenDigests: {} }),
);

describe("SampleStack", () => {
  it("has payments wait in a FIFO queue with deduplication by id, per message group", () => {
    template.hasResourceProperties("AWS::SQS::Queue", {
      FifoQueue: true,
      ContentBasedDeduplication: false,
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
      MessageRetentionPeriod: 4 * 86_400,
      RedrivePolicy: {
        deadLetterTargetArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^PaymentsQueueDeadLetters"), "Arn"] },
        maxReceiveCount: 10,
      },
    });
    template.hasResourceProperties("AWS::SQS::Queue", {
      FifoQueue: true,
      RedrivePolicy: Match.absent(),
      MessageRetentionPeriod: 14 * 86_400,
    });
  });

  it("hides a message six times as long as its consumer may run", () => {
    const [queue] = Object.values(
      template.findResources("AWS::SQS::Queue", { Properties: { RedrivePolicy: Match.anyValue() } }),
    );
    const [consumer] = Object.values(
      template.findResources("AWS::Lambda::Function", {
        Properties: {
          Environment: { Variables: Match.objectLike({ PAYMENTS_TABLE: Match.anyValue() }) },
        },
      }),
    );

    expect(queue?.Properties.VisibilityTimeout).toBe(6 * consumer?.Properties.Timeout);
  });

  it("makes consumer and relay report what they did not do", () => {
    template.resourceCountIs("AWS::Lambda::EventSourceMapping", 2);
    template.allResourcesProperties("AWS::Lambda::EventSourceMapping", {
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
  });
});
