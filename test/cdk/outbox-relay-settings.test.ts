// The settings that OutboxRelay hands to both of its functions, and what rule packs find with them.
import { Annotations as Annotated, type App, CfnParameter, PropertyInjectors, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { FlowLogDestination, SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import type { CfnRule } from "aws-cdk-lib/aws-events";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { CfnEventSourceMapping, Function as LambdaFunction, Tracing } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks } from "cdk-nag";
import {
  DedupQueue,
  IdempotencyTable,
  type IIdempotencyTable,
  OutboxRelay,
  type OutboxRelayProps,
} from "onceonly/cdk";
import { describe, expect, it, test } from "vitest";
import { unitStack } from "./app-given.ts";
import { nagFindings } from "./nag-given.ts";
import { outboxIn } from "./outbox-relay-given.ts";

const env = { region: "eu-west-1", account: "111111111111" };

function relayWith(settings: (stack: Stack) => Omit<OutboxRelayProps, "table">) {
  const stack = unitStack({ env });
  outboxIn(stack, { destinations: [new DedupQueue(stack, "Queue").queue], ...settings(stack) });
  return { stack, template: Template.fromStack(stack) };
}

const aKey = (stack: Stack) => new Key(stack, "Key", { enableKeyRotation: true });

function hardened(stack: Stack): Omit<OutboxRelayProps, "table"> {
  const vpc = new Vpc(stack, "Vpc", { natGateways: 0 });
  vpc.addFlowLog("Flow", { destination: FlowLogDestination.toCloudWatchLogs() });
  return {
    vpc,
    vpcSubnets: { subnets: vpc.isolatedSubnets },
    logEncryptionKey: aKey(stack),
    reservedConcurrentExecutions: 4,
    tracing: Tracing.ACTIVE,
  };
}

describe("OutboxRelay", () => {
  it("runs both functions in a VPC, traced, with reserved concurrency", () => {
    const { template } = relayWith((stack) => {
      const settings = hardened(stack);
      return { ...settings, securityGroups: [new SecurityGroup(stack, "Group", { vpc: settings.vpc! })] };
    });

    template.allResourcesProperties("AWS::Lambda::Function", {
      VpcConfig: { SecurityGroupIds: [{ "Fn::GetAtt": [Match.stringLikeRegexp("^Group"), "GroupId"] }] },
      TracingConfig: { Mode: "Active" },
      ReservedConcurrentExecutions: 4,
    });
  });

  it("B7: lets both functions create network interfaces in a VPC that a property injector gives them", () => {
    const { template } = relayWith((stack) => {
      const vpc = new Vpc(stack, "Vpc", { natGateways: 0 });
      PropertyInjectors.of(stack).add({
        constructUniqueId: LambdaFunction.PROPERTY_INJECTION_ID,
        inject: (props) => ({ ...props, vpc, vpcSubnets: { subnets: vpc.isolatedSubnets } }),
      });
      return {};
    });

    template.allResourcesProperties("AWS::Lambda::Function", { VpcConfig: Match.anyValue() });
    template.allResourcesProperties("AWS::IAM::Role", {
      ManagedPolicyArns: [
        { "Fn::Join": ["", Match.arrayWith([Match.stringLikeRegexp("AWSLambdaVPCAccessExecutionRole$")])] },
      ],
    });
  });

  it("accepts a role and a log group for both, and creates none then", () => {
    const { template } = relayWith((stack) => ({
      role: new Role(stack, "Own", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") }),
      logGroup: new LogGroup(stack, "OwnLogs"),
    }));

    template.resourceCountIs("AWS::IAM::Role", 1);
    template.resourceCountIs("AWS::Logs::LogGroup", 1);
    template.allResourcesProperties("AWS::Lambda::Function", {
      Role: { "Fn::GetAtt": [Match.stringLikeRegexp("^Own"), "Arn"] },
      LoggingConfig: { LogGroup: { Ref: Match.stringLikeRegexp("^OwnLogs") } },
    });
  });

  it("encrypts both log groups with a key that lets CloudWatch Logs use it", () => {
    const { template } = relayWith((stack) => ({ logEncryptionKey: aKey(stack) }));

    template.resourceCountIs("AWS::Logs::LogGroup", 2);
    template.allResourcesProperties("AWS::Logs::LogGroup", {
      KmsKeyId: { "Fn::GetAtt": [Match.stringLikeRegexp("^Key"), "Arn"] },
    });
    template.hasResourceProperties("AWS::KMS::Key", {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({ Principal: { Service: "logs.eu-west-1.amazonaws.com" } }),
        ]),
      },
    });
  });

  it("accepts an imported key, whose policy it leaves unchanged", () => {
    const { template } = relayWith((stack) => ({
      logEncryptionKey: Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-1:111111111111:key/of-the-team"),
    }));

    template.allResourcesProperties("AWS::Logs::LogGroup", {
      KmsKeyId: "arn:aws:kms:eu-west-1:111111111111:key/of-the-team",
    });
  });

  it("warns of batches of one shard in parallel", () => {
    const { stack, template } = relayWith(() => ({ parallelizationFactor: 2 }));

    template.hasResourceProperties("AWS::Lambda::EventSourceMapping", { ParallelizationFactor: 2 });
    Annotations.fromStack(stack).hasWarning(
      "/Test/Outbox",
      Match.stringLikeRegexp("parallelizationFactor of Test/Outbox is 2, so commits of one group"),
    );
  });

  it("warns of a reserved concurrency of 0", () => {
    const { stack } = relayWith(() => ({ reservedConcurrentExecutions: 0 }));

    Annotations.fromStack(stack).hasWarning(
      "/Test/Outbox/Relay",
      Match.stringLikeRegexp(
        "reservedConcurrentExecutions of Test/Outbox/Relay and Test/Outbox/Sweeper is 0, so no committed",
      ),
    );
  });

  it("B8: reports nothing about a paused relay that the app acknowledges", () => {
    const stack = unitStack();
    const outbox = outboxIn(stack, { destinations: [new Queue(stack, "To")] });
    for (const id of ["relay-off", "no-sweep"]) Annotated.of(outbox).acknowledgeWarning(`onceonly:${id}`);
    const mapping = outbox.relay.node.findAll().find((each) => each instanceof CfnEventSourceMapping);
    (mapping as CfnEventSourceMapping).enabled = false;
    (outbox.sweeping.node.defaultChild as CfnRule).state = "DISABLED";
    Template.fromStack(stack);

    Annotations.fromStack(stack).hasNoWarning("*", Match.anyValue());
  });

  it("accepts numbers that are known at deployment only, without a warning", () => {
    const { stack } = relayWith((stack) => {
      const { valueAsNumber } = new CfnParameter(stack, "Number", { type: "Number" });
      return { reservedConcurrentExecutions: valueAsNumber, parallelizationFactor: valueAsNumber };
    });

    Annotations.fromStack(stack).hasNoWarning("/Test/Outbox", Match.anyValue());
  });

  it("treats undefined for each setting as if it was left out", () => {
    const absent = {
      logGroup: undefined,
      logEncryptionKey: undefined,
      role: undefined,
      vpc: undefined,
      vpcSubnets: undefined,
      securityGroups: undefined,
      reservedConcurrentExecutions: undefined,
      parallelizationFactor: undefined,
      tracing: undefined,
    };
    const { template } = relayWith(() => absent as unknown as Omit<OutboxRelayProps, "table">);

    expect(template.toJSON()).toEqual(relayWith(() => ({})).template.toJSON());
  });
});

const REASONS: Readonly<Record<string, string>> = {
  IAMNoInlinePolicy: "the rights of each function name its own resources, and no other role may have them",
  LambdaDLQ: "the stream keeps what the relay cannot send, and the sweeper runs again within a minute",
};

type Settings = (stack: Stack) => Omit<OutboxRelayProps, "table">;
type Pack = Parameters<typeof nagFindings>[1];

/** The names of the rules that find something in the relay's own constructs, without the names of their packs. */
function rulesThatFind(packIn: Pack, settings: Settings): string[] {
  const { open } = nagFindings((app) => {
    const stack = new Stack(app, "Test", { env });
    outboxIn(stack, { destinations: [new DedupQueue(stack, "Queue").queue], ...settings(stack) });
    return stack;
  }, packIn);
  const rules = open
    .filter((line) => line.startsWith("Test/Outbox/"))
    .map((line) => line.replace(/^.*: .*?-(?=[A-Z][A-Za-z]+$)/, ""));
  return [...new Set(rules)].sort();
}

describe("a second OutboxRelay", () => {
  const imported = (stack: Stack, id: string, tableName = "records") =>
    IdempotencyTable.fromTableAttributes(stack, id, {
      tableName,
      tableStreamArn: `arn:aws:dynamodb:eu-west-1:111111111111:table/${tableName}/stream/1`,
    });
  const relayOn = (table: IIdempotencyTable, scope: Stack, id: string) =>
    new OutboxRelay(scope, id, { table });

  it("is refused on the same table, in another stack too", () => {
    const stack = unitStack({ env });
    const other = new Stack(stack.node.root as App, "Other", { env });
    const table = new IdempotencyTable(stack, "Table", { outbox: true });
    relayOn(table, stack, "Outbox");

    expect(() => relayOn(table, other, "Second")).toThrow(
      "Other/Second and Test/Outbox both send from Test/Table: each would send every message",
    );
  });

  it("is refused on a table that is imported twice", () => {
    const stack = unitStack({ env });
    relayOn(imported(stack, "One"), stack, "Outbox");

    expect(() => relayOn(imported(stack, "Two"), stack, "Second")).toThrow("both send from");
  });

  it("is accepted on another table, on another app's and in another Region", () => {
    const stack = unitStack({ env });
    const elsewhere = new Stack(stack.node.root as App, "Elsewhere", {
      env: { ...env, region: "us-east-1" },
    });
    relayOn(imported(stack, "One"), stack, "Outbox");

    relayOn(imported(stack, "Two", "others"), stack, "Second");
    relayOn(new IdempotencyTable(stack, "Table", { outbox: true }), stack, "Third");
    relayOn(new IdempotencyTable(elsewhere, "Table", { outbox: true }), elsewhere, "Fourth");
    relayOn(imported(unitStack({ env }), "One"), unitStack({ env }), "Fifth");
  });
});

describe("rule packs", () => {
  it("of AwsSolutions find nothing with a VPC, a key for logs, reserved concurrency and tracing", () => {
    expect(rulesThatFind(undefined, hardened)).toEqual([]);
  });

  test.each<[string, Pack]>([
    ["NIST.800-53.R5", (app) => new NIST80053R5Checks(app)],
    ["HIPAA.Security", (app) => new HIPAASecurityChecks(app)],
    ["PCI.DSS.321", (app) => new PCIDSS321Checks(app)],
  ])("of %s find only what has a reason", (_, packIn) => {
    const withDefaults = rulesThatFind(packIn, () => ({}));
    const withSettings = rulesThatFind(packIn, hardened);

    expect(withDefaults).toContain("LambdaInsideVPC");
    expect(withSettings.filter((rule) => !Object.hasOwn(REASONS, rule))).toEqual([]);
  });
});
