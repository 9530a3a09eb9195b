import { Duration, type Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { EventBus } from "aws-cdk-lib/aws-events";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, type OutboxDestination, OutboxRelay, type OutboxRelayProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf, through } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { faultsOf } from "./given.ts";
import { outboxIn, templateWith } from "./outbox-relay-given.ts";

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

  it("H75: configures both functions with the destinations to which they may send, and no others", () => {
    const template = templateWith({}, (stack) => new EventBus(stack, "To"));

    for (const id of ["OutboxRelay", "OutboxSweeper"]) {
      const [fn] = Object.entries(template.findResources("AWS::Lambda::Function")).filter(([name]) =>
        name.startsWith(id),
      );
      const configured = JSON.stringify(fn?.[1].Properties.Environment.Variables.OUTBOX_DESTINATIONS);
      expect(configured).toMatch(/Fn::GetAtt.*To\w+.*Arn.*Ref.*To\w+/);
    }
  });

  const toldIn = (stack: Stack) => {
    const functions = Object.values(Template.fromStack(stack).findResources("AWS::Lambda::Function"));
    const variables = functions.map(({ Properties }) => Properties.Environment?.Variables ?? {});
    const [relay, sweeper, ...others] = variables.flatMap(
      ({ OUTBOX_DESTINATIONS: configured }) => configured ?? [],
    );
    expect(others).toEqual([]);
    expect(sweeper).toEqual(relay);
    // Logical ids instead of the addresses that they become.
    const text = JSON.stringify(relay).replace(/\{"Ref":"(\w+?)[0-9A-F]{8}"\}/g, '"$1"');
    return JSON.parse((JSON.parse(text)["Fn::Join"][1] as string[]).join(""));
  };

  it("H75: configures both functions with the destinations of each operation, and lets them send there, once each", () => {
    const stack = unitStack();
    const [shared, own] = [new Queue(stack, "Shared"), new Queue(stack, "Own")];
    const relay = outboxIn(stack, { destinations: { pay: [shared], "pay-out": [shared, own] } });
    relay.addDestination(new Queue(stack, "Later"), "pay", "refund");

    expect(toldIn(stack)).toEqual({
      pay: ["Shared", "Later"],
      "pay-out": ["Shared", "Own"],
      refund: ["Later"],
    });
    for (const role of ["OutboxRelayRole", "OutboxSweeperRole"]) {
      const rights = rightsOf(Template.fromStack(stack), role);
      expect(rights.filter(({ actions }) => actions.includes("sqs:SendMessage"))).toEqual(
        ["Shared", "Own", "Later"].map((on) => ({ on, actions: ["sqs:SendMessage"] })),
      );
    }
  });

  it("H75: distinguishes operations from the first destination that names some", () => {
    const stack = unitStack();
    const relay = outboxIn(stack);
    relay.addDestination(new Queue(stack, "To"), "pay");

    expect(() => relay.addDestination(new Queue(stack, "Other"))).toThrow(
      "Test/Outbox has destinations per operation, and one without any: list the operations that it's for",
    );
    expect(toldIn(stack)).toEqual({ pay: ["To"] });
  });

  it("is requested at synthesis if there is none", () => {
    const stack = unitStack();
    outboxIn(stack);

    expect(faultsOf(stack)).toContain("Test/Outbox has no destinations");
  });

  it("is requested at synthesis if they belong to no operation", () => {
    const stack = unitStack();
    outboxIn(stack, { destinations: {} });

    expect(faultsOf(stack)).toContain("Test/Outbox has no destinations");
  });
});

describe("OutboxRelay refuses", () => {
  it.each<[string, string, string]>([
    ["for an operation without a name", "", 'are for the operation ""'],
    ["for an operation whose name is too long", "a".repeat(65), 'are for the operation "aaa'],
  ])("a destination %s", (_, operation, message) => {
    const stack = unitStack();

    expect(() => outboxIn(stack, { destinations: { [operation]: [new Queue(stack, "To")] } })).toThrow(
      `destinations of Test/Outbox ${message}`,
    );
  });

  it("an operation that has no destination", () => {
    expect(() => outboxIn(unitStack(), { destinations: { pay: [] } })).toThrow(
      "destinations of Test/Outbox has no destination for pay: add at least one, or remove the operation",
    );
  });

  it("one for some operations, when others are for all", () => {
    const stack = unitStack();
    const relay = outboxIn(stack, { destinations: [new Queue(stack, "To")] });

    expect(() => relay.addDestination(new Queue(stack, "Other"), "pay")).toThrow(
      "Test/Outbox has destinations for all operations, and one for pay only",
    );
  });

  it("a table without an outbox, which has no stream", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");

    expect(() => new OutboxRelay(stack, "Outbox", { table })).toThrow(
      "outbox of Test/Table is off, so there's nothing to relay: set it to true",
    );
  });

  it("a FIFO queue for messages that the relay gave up", () => {
    const stack = unitStack();
    const onFailureQueue = new Queue(stack, "GivenUp", { fifo: true });

    expect(() => outboxIn(stack, { onFailureQueue })).toThrow(
      "onFailureQueue of Test/Outbox is Test/GivenUp, a FIFO queue",
    );
  });

  it("an age that no change in a stream reaches", () => {
    expect(() => templateWith({ maxRecordAge: Duration.hours(25) })).toThrow(
      "maxRecordAge of Test/Outbox is 90000 s, but a table's stream keeps changes for 86400 s",
    );
  });

  it.each<[string, Partial<OutboxRelayProps>, string]>([
    ["more than 10000 retries", { retryAttempts: 10_001 }, "between 0 and 10000"],
    ["an age of less than a minute", { maxRecordAge: Duration.seconds(59) }, "between 60 seconds"],
  ])("%s, which CDK knows", (_, settings, message) => {
    expect(() => templateWith(settings)).toThrow(message);
  });
});
