import { Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { EventBus, EventField, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue, type SqsQueueProps } from "aws-cdk-lib/aws-events-targets";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, type DedupQueueProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitApp } from "../app-given.ts";

const PER_ORDER = { messageGroupId: EventField.fromPath("$.detail.orderId") };
const BY_CONTENT = { contentBasedDeduplication: true };

interface Given {
  readonly props?: DedupQueueProps;
  readonly target?: SqsQueueProps;
  /** Whether the rule is in a stack of its own. */
  readonly isApart?: boolean;
}

function stackWith({ props = BY_CONTENT, target = PER_ORDER, isApart = false }: Given) {
  const app = unitApp();
  const stack = new Stack(app, "Shop");
  const stackOfRule = isApart ? new Stack(app, "Rules") : stack;
  // Without a key CDK names the rule in the queue's policy, and each of two stacks would need the other.
  const ownKey = isApart ? { encryptionKey: new Key(stack, "Key") } : {};
  const { queue } = new DedupQueue(stack, "Queue", { ...props, ...ownKey });
  const eventBus = new EventBus(stackOfRule, "Bus");
  new Rule(stackOfRule, "Rule", {
    eventBus,
    eventPattern: { detailType: ["order-created"] },
    targets: [new SqsQueue(queue, target)],
  });
  return stack;
}

const refusalOf = (given: Given) => {
  try {
    stackWith(given).node.root.node.children.map((stack) => Template.fromStack(stack as Stack));
  } catch (error) {
    return String(error);
  }
  return undefined;
};

describe("a rule of EventBridge", () => {
  it("feeds a DedupQueue that derives deduplication ids from the content, group by group", () => {
    const template = Template.fromStack(stackWith({}));

    template.hasResourceProperties("AWS::Events::Rule", {
      Targets: [Match.objectLike({ SqsParameters: { MessageGroupId: "$.detail.orderId" } })],
    });
    template.hasResourceProperties("AWS::SQS::Queue", {
      FifoQueue: true,
      ContentBasedDeduplication: true,
      DeduplicationScope: "messageGroup",
      RedrivePolicy: Match.anyValue(),
    });
    template.hasResourceProperties("AWS::SQS::QueuePolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: "Allow", Principal: { Service: "events.amazonaws.com" } }),
        ]),
      },
    });
  });

  it("is rejected if the queue creates no deduplication ids: EventBridge sends none", () => {
    expect(refusalOf({ props: {} })).toContain(
      "the rule Shop/Rule feeds the FIFO queue Shop/Queue, and EventBridge doesn't send deduplication ids: set contentBasedDeduplication",
    );
  });

  it("is refused without a message group", () => {
    expect(refusalOf({ target: {} })).toContain(
      "the rule Shop/Rule feeds the FIFO queue Shop/Queue without a messageGroupId",
    );
  });

  it("is detected in a separate stack", () => {
    expect(refusalOf({ isApart: true })).toBeUndefined();
    expect(refusalOf({ isApart: true, props: {} })).toContain("set contentBasedDeduplication");
  });

  it("may feed any other queue, and one that is added later is seen", () => {
    const stack = stackWith({});
    const rule = new Rule(stack, "Other", { eventPattern: { source: ["a"] } });
    rule.addTarget(new SqsQueue(new Queue(stack, "Standard")));
    expect(() => Template.fromStack(stack)).not.toThrow();

    const late = stackWith({});
    const { queue } = new DedupQueue(late, "Plain");
    new Rule(late, "Late", { eventPattern: { source: ["a"] } }).addTarget(new SqsQueue(queue, PER_ORDER));
    expect(() => Template.fromStack(late)).toThrow("set contentBasedDeduplication");
  });
});
