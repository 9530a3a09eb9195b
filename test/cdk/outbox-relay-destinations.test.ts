import { Duration, type Stack } from "aws-cdk-lib";
import { EventBus } from "aws-cdk-lib/aws-events";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, type OutboxDestination, OutboxRelay, type OutboxRelayProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./given.ts";
import { outboxIn, templateWith } from "./outbox-relay-given.ts";
import { rightsOf, through } from "./rights.ts";
import { unitStack } from "./unit-app.ts";

describe("OutboxRelay.addDestination", () => {
  it.each<[string, (stack: Stack) => OutboxDestination, object[]]>([
    ["a queue", (stack) => new Queue(stack, "To"), [{ on: "To", actions: ["sqs:SendMessage"] }]],
    [
      "a queue with a key",
      (stack) => new Queue(stack, "To", { encryptionMasterKey: new Key(stack, "Key") }),
      [
        { on: "To", actions: ["sqs:SendMessage"] },
        { on: "Key", actions: ["kms:Decrypt", "kms:GenerateDataKey"], condition: through("sqs") },
      ],
    ],
    [
      "a topic with a key",
      (stack) => new Topic(stack, "To", { masterKey: new Key(stack, "Key") }),
      [
        { on: "To", actions: ["sns:Publish"] },
        { on: "Key", actions: ["kms:Decrypt", "kms:GenerateDataKey"], condition: through("sns") },
      ],
    ],
    [
      "an event bus, which it asks about first",
      (stack) => new EventBus(stack, "To"),
      [
        { on: "To", actions: ["events:DescribeEventBus"] },
        { on: "To", actions: ["events:PutEvents"] },
      ],
    ],
  ])("lets both functions send to %s", (_, destinationIn, rights) => {
    const template = templateWith({}, destinationIn);

    for (const role of ["OutboxRelayRole", "OutboxSweeperRole"]) {
      expect(rightsOf(template, role).slice(-rights.length)).toEqual(rights);
    }
  });

  it("H75: tells both functions where they may send, and nowhere else", () => {
    const template = templateWith({}, (stack) => new EventBus(stack, "To"));

    for (const id of ["OutboxRelay", "OutboxSweeper"]) {
      const [fn] = Object.entries(template.findResources("AWS::Lambda::Function")).filter(([name]) =>
        name.startsWith(id),
      );
      const told = JSON.stringify(fn?.[1].Properties.Environment.Variables.OUTBOX_DESTINATIONS);
      expect(told).toMatch(/Fn::GetAtt.*To\w+.*Arn.*Ref.*To\w+/);
    }
  });

  it("is asked for at synthesis where there is none", () => {
    const stack = unitStack();
    outboxIn(stack);

    expect(faultsOf(stack)).toContain("Test/Outbox has 0 destinations");
  });
});

describe("OutboxRelay refuses", () => {
  it("a table without an outbox, which has no stream", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");

    expect(() => new OutboxRelay(stack, "Outbox", { table })).toThrow(
      "outbox of Test/Table is off, so nothing can be relayed: set it to true",
    );
  });

  it("a FIFO queue for what the relay gave up", () => {
    const stack = unitStack();
    const onFailureQueue = new Queue(stack, "GivenUp", { fifo: true });

    expect(() => outboxIn(stack, { onFailureQueue })).toThrow(
      "onFailureQueue of Test/Outbox is Test/GivenUp, a FIFO queue",
    );
  });

  it("an age that no change in a stream reaches", () => {
    expect(() => templateWith({ maxRecordAge: Duration.hours(25) })).toThrow(
      "maxRecordAge of Test/Outbox is 90000 s and the stream of a table keeps a change for 86400 s",
    );
  });

  it.each<[string, Partial<OutboxRelayProps>, string]>([
    ["more than 10000 retries", { retryAttempts: 10_001 }, "between 0 and 10000"],
    ["an age of less than a minute", { maxRecordAge: Duration.seconds(59) }, "between 60 seconds"],
  ])("%s, which CDK knows", (_, settings, message) => {
    expect(() => templateWith(settings)).toThrow(message);
  });
});
