import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, type DedupQueueProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf, through } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";

function templateWith(props?: DedupQueueProps): Template {
  const stack = unitStack();
  new DedupQueue(stack, "Queue", props);
  return Template.fromStack(stack);
}

const DEAD_LETTERS_ID = Match.stringLikeRegexp("^QueueDeadLetters");

describe("DedupQueue", () => {
  it("distinguishes messages by the ids that producers give, separately in each message group", () => {
    templateWith().hasResourceProperties("AWS::SQS::Queue", {
      FifoQueue: true,
      ContentBasedDeduplication: false,
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
      VisibilityTimeout: 174,
      MessageRetentionPeriod: 4 * 86_400,
      SqsManagedSseEnabled: true,
      RedrivePolicy: {
        deadLetterTargetArn: { "Fn::GetAtt": [DEAD_LETTERS_ID, "Arn"] },
        maxReceiveCount: 5,
      },
      RedriveAllowPolicy: { redrivePermission: "denyAll" },
    });
  });

  it("lets no other queue use its dead-letter queue, if its own ARN is known from its name", () => {
    const ofDeadLetters = (props: DedupQueueProps) =>
      Object.values(templateWith(props).findResources("AWS::SQS::Queue"))
        .map(({ Properties }) => Properties)
        .find(({ RedrivePolicy }) => RedrivePolicy === undefined)?.RedriveAllowPolicy;

    expect(JSON.stringify(ofDeadLetters({ queueName: "payments.fifo" }))).toMatch(
      /^\{"redrivePermission":"byQueue","sourceQueueArns":\[.*:payments\.fifo"\]\]?\}?\]\}$/,
    );
    expect(ofDeadLetters({})).toBeUndefined();
  });

  it("keeps messages received too often in a FIFO queue, for as long as SQS keeps any message", () => {
    templateWith().hasResourceProperties("AWS::SQS::Queue", {
      FifoQueue: true,
      MessageRetentionPeriod: 14 * 86_400,
      SqsManagedSseEnabled: true,
      RedrivePolicy: Match.absent(),
    });
  });

  it("is closed to requests without TLS, and so are its dead letters", () => {
    const template = templateWith();

    template.resourceCountIs("AWS::SQS::QueuePolicy", 2);
    template.allResourcesProperties("AWS::SQS::QueuePolicy", {
      PolicyDocument: {
        Statement: [
          Match.objectLike({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        ],
      },
    });
  });

  it("keeps its logical ids, since another queue would be an empty one", () => {
    expect(Object.keys(templateWith().findResources("AWS::SQS::Queue")).sort()).toEqual([
      "Queue4A7E3555",
      "QueueDeadLetters9B423CAD",
    ]);
  });

  it("accepts other numbers, a name, and a removal policy for both queues", () => {
    const template = templateWith({
      queueName: "payments.fifo",
      visibilityTimeout: Duration.minutes(1),
      retentionPeriod: Duration.days(2),
      maxReceiveCount: 10,
      removalPolicy: RemovalPolicy.RETAIN,
    });

    template.allResources("AWS::SQS::Queue", { DeletionPolicy: "Retain" });
    template.hasResourceProperties("AWS::SQS::Queue", {
      QueueName: "payments.fifo",
      VisibilityTimeout: 60,
      MessageRetentionPeriod: 2 * 86_400,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 10 }),
    });
  });

  it("accepts an existing dead-letter queue", () => {
    const stack = unitStack();
    const deadLetterQueue = new Queue(stack, "Dead", { fifo: true });
    const queue = new DedupQueue(stack, "Queue", { deadLetterQueue });

    expect(queue.deadLetterQueue).toBe(deadLetterQueue);
    Template.fromStack(stack).resourceCountIs("AWS::SQS::Queue", 2);
  });

  it("encrypts both queues by a customer managed key", () => {
    const stack = unitStack();
    new DedupQueue(stack, "Queue", { encryptionKey: new Key(stack, "Key") });

    Template.fromStack(stack).allResourcesProperties("AWS::SQS::Queue", {
      KmsMasterKeyId: { "Fn::GetAtt": [Match.stringLikeRegexp("^Key"), "Arn"] },
    });
  });
});

describe("grants of a DedupQueue", () => {
  function rights(isEncrypted: boolean, grant: (queue: DedupQueue, role: Role) => unknown) {
    const stack = unitStack();
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const encryptionKey = isEncrypted ? new Key(stack, "Key") : undefined;
    grant(new DedupQueue(stack, "Queue", { encryptionKey }), role);
    return rightsOf(Template.fromStack(stack), "Role");
  }

  it("let producers send, and nothing else", () => {
    expect(rights(false, (queue, role) => queue.grantProduce(role))).toEqual([
      { on: "Queue", actions: ["sqs:SendMessage"] },
    ]);
  });

  it("let producers use a customer managed key", () => {
    expect(rights(true, (queue, role) => queue.grantProduce(role))).toEqual([
      { on: "Queue", actions: ["sqs:SendMessage"] },
      { on: "Key", actions: ["kms:Decrypt", "kms:GenerateDataKey"], condition: through("sqs") },
    ]);
  });

  it("let consumers of another kind hide messages for longer", () => {
    expect(rights(true, (queue, role) => queue.grantChangeVisibility(role))).toEqual([
      { on: "Queue", actions: ["sqs:ChangeMessageVisibility"] },
    ]);
  });
});

describe("metrics of a DedupQueue", () => {
  it("are those of its two queues", () => {
    const made = new DedupQueue(unitStack(), "Queue");

    expect(made.metricApproximateNumberOfMessagesVisible()).toMatchObject({
      metricName: "ApproximateNumberOfMessagesVisible",
      dimensions: { QueueName: made.queue.queueName },
    });
    expect(made.metricApproximateAgeOfOldestMessage()).toMatchObject({
      metricName: "ApproximateAgeOfOldestMessage",
      dimensions: { QueueName: made.queue.queueName },
    });
    expect(made.metricDeadLetters()).toMatchObject({
      metricName: "ApproximateNumberOfMessagesVisible",
      dimensions: { QueueName: made.deadLetterQueue.queueName },
    });
  });
});
