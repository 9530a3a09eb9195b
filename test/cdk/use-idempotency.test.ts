import { fileURLToPath } from "node:url";
import { type App, Mixins, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { Alias, type CfnFunction, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import {
  AwsCustomResource,
  AwsCustomResourcePolicy,
  PhysicalResourceId,
  Provider,
} from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import {
  DedupQueue,
  IdempotencyTable,
  type IdempotencyTableProps,
  IdempotentFunction,
  OutboxRelay,
  UseIdempotency,
  type UseIdempotencyOptions,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf, runsOperationsOn } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction, faultsOf } from "./given.ts";

const entry = fileURLToPath(new URL("../../functions/get-order.ts", import.meta.url));

const RUNS_OPERATIONS = runsOperationsOn("Table");

const knowsItsTable = (others: object = {}) => ({
  Environment: { Variables: Match.objectLike({ ...others, IDEMPOTENCY_TABLE: { Ref: "TableCD117FA1" } }) },
});

describe("UseIdempotency", () => {
  it("grants a function exactly what running operations requires, and passes the table's name to it", () => {
    const stack = unitStack();
    const fn = aFunction(stack, "Fn", { environment: { OTHER: "kept" } });

    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));

    const template = Template.fromStack(stack);
    expect(rightsOf(template, "FnServiceRole")).toEqual(RUNS_OPERATIONS);
    template.hasResourceProperties("AWS::Lambda::Function", knowsItsTable({ OTHER: "kept" }));
  });

  it("passes a function the number of shards for its messages, and that none go anywhere without an outbox or `commits`", () => {
    const outboxOf = (props: IdempotencyTableProps, options: UseIdempotencyOptions) => {
      const stack = unitStack();
      aFunction(stack).with(new UseIdempotency(new IdempotencyTable(stack, "Table", props), options));
      const [fn] = Object.values(Template.fromStack(stack).findResources("AWS::Lambda::Function"));
      return fn?.Properties.Environment.Variables.IDEMPOTENCY_OUTBOX;
    };

    expect(outboxOf({ outbox: true }, { commits: true })).toBe("8");
    expect(outboxOf({ outbox: true, outboxShards: 16 }, { commits: true })).toBe("16");
    expect(outboxOf({ outbox: true, outboxShards: undefined }, { commits: undefined })).toBe("none");
    expect(outboxOf({ outbox: true }, {})).toBe("none");
    expect(outboxOf({}, { commits: true })).toBe("none");
    expect(outboxOf({ outbox: undefined }, { commits: true })).toBe("none");
  });

  it("H61: reports for a function with a capacity provider that its leases are renewed, and what it sets for that: nothing", () => {
    const stack = unitStack();
    const [managed, plain] = [aFunction(stack, "Managed"), aFunction(stack, "Plain")];
    const table = new IdempotencyTable(stack, "Table");
    for (const fn of [managed, plain]) fn.with(new UseIdempotency(table));
    // As `CapacityProvider.addFunction` does, which may come after the mixin.
    (managed.node.defaultChild as CfnFunction).capacityProviderConfig = {
      lambdaManagedInstancesCapacityProviderConfig: {
        capacityProviderArn: "arn:aws:lambda:eu-central-1:123456789012:capacity-provider:orders",
      },
    };

    const template = Template.fromStack(stack);
    const annotations = Annotations.fromStack(stack);
    annotations.hasInfo("/Test/Managed", Match.stringLikeRegexp("Managed Instances.*sets nothing.*renewed"));
    annotations.hasNoInfo("/Test/Plain", Match.stringLikeRegexp("Managed Instances"));
    const functions = Object.values(template.findResources("AWS::Lambda::Function"));
    const [one, other] = functions.map(({ Properties }) => Properties.Environment);
    expect(one).toEqual(other);
    expect(rightsOf(template, "ManagedServiceRole")).toEqual(rightsOf(template, "PlainServiceRole"));
  });

  it("works on a NodejsFunction", () => {
    const stack = unitStack();
    const fn = new NodejsFunction(stack, "Fn", { entry, runtime: Runtime.NODEJS_24_X });

    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));

    const template = Template.fromStack(stack);
    expect(rightsOf(template, "FnServiceRole")).toEqual(RUNS_OPERATIONS);
    template.hasResourceProperties("AWS::Lambda::Function", knowsItsTable());
  });

  it("finds the functions of a whole stack, but those of an OutboxRelay, which run no operations", () => {
    const stackWith = (isMixedIn: boolean) => {
      const stack = unitStack();
      const table = new IdempotencyTable(stack, "Table", { outbox: true });
      const { queue } = new DedupQueue(stack, "Queue");
      new OutboxRelay(stack, "Outbox", { table, destinations: [queue] });
      for (const id of ["First", "Second"]) aFunction(stack, id);
      if (isMixedIn) Mixins.of(stack).apply(new UseIdempotency(table));
      return Template.fromStack(stack);
    };
    const [before, after] = [stackWith(false), stackWith(true)];

    for (const id of ["First", "Second"]) {
      expect(rightsOf(after, `${id}ServiceRole`)).toEqual(RUNS_OPERATIONS);
    }
    for (const id of ["OutboxRelayRole", "OutboxSweeperRole"]) {
      expect(rightsOf(after, id)).toEqual(rightsOf(before, id));
    }
  });

  it("leaves alone CDK's own functions, and functions that have it already, in a stack to which it is applied", () => {
    const stackWith = (isMixedIn: boolean) => {
      const stack = unitStack();
      const table = new IdempotencyTable(stack, "Table");
      new AwsCustomResource(stack, "Custom", {
        onCreate: {
          service: "S3",
          action: "listBuckets",
          physicalResourceId: PhysicalResourceId.of("buckets"),
        },
        policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: ["*"] }),
      });
      new Provider(stack, "Provider", { onEventHandler: aFunction(stack, "OnEvent") });
      new IdempotentFunction(stack, "Fenced", { entry, table, operations: ["create-order"] });
      aFunction(stack, "Plain");
      if (isMixedIn) Mixins.of(stack).apply(new UseIdempotency(table));
      return stack;
    };
    const [before, stack] = [Template.fromStack(stackWith(false)), stackWith(true)];
    const after = Template.fromStack(stack);

    for (const id of ["AWS679f53fac002430cb0da5b7982bd2287", "ProviderframeworkonEvent", "Fenced"]) {
      expect(rightsOf(after, `${id}ServiceRole`)).toEqual(rightsOf(before, `${id}ServiceRole`));
    }
    expect(rightsOf(after, "PlainServiceRole")).toEqual(RUNS_OPERATIONS);
    Annotations.fromStack(stack).hasInfo(
      "/Test/Fenced",
      Match.stringLikeRegexp("already has UseIdempotency"),
    );
    Annotations.fromStack(stack).hasInfo(
      "/Test/Provider/framework-onEvent",
      Match.stringLikeRegexp("CDK's own"),
    );
  });

  it("is content with a stack of functions that all have it already", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    new IdempotentFunction(stack, "Fenced", { entry, table, operations: ["create-order"] });
    Mixins.of(stack).apply(new UseIdempotency(table));

    expect(() => Template.fromStack(stack)).not.toThrow();
  });

  it("refuses a table of another region, with both regions", () => {
    const app = unitStack().node.root as App;
    const stack = new Stack(app, "There", { env: { region: "eu-west-1", account: "111111111111" } });
    const imported = IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableArn: "arn:aws:dynamodb:us-east-1:111111111111:table/records",
    });

    expect(() => aFunction(stack).with(new UseIdempotency(imported))).toThrow(
      "There/Fn is in eu-west-1, but There/Table is a table in us-east-1: in eu-west-1 that name refers to a different table, or to none. Use a table in eu-west-1",
    );
  });

  it("names a table of another account by its ARN, and one of the same account by its name", () => {
    const tableIn = (account: string) => {
      const app = unitStack().node.root as App;
      const stack = new Stack(app, "There", { env: { region: "eu-west-1", account: "111111111111" } });
      const tableArn = `arn:aws:dynamodb:eu-west-1:${account}:table/records`;
      const table = IdempotencyTable.fromTableAttributes(stack, "Table", { tableArn });
      aFunction(stack).with(new UseIdempotency(table));
      const [fn] = Object.values(Template.fromStack(stack).findResources("AWS::Lambda::Function"));
      return fn?.Properties.Environment.Variables.IDEMPOTENCY_TABLE;
    };

    expect(tableIn("222222222222")).toBe("arn:aws:dynamodb:eu-west-1:222222222222:table/records");
    expect(tableIn("111111111111")).toBe("records");
  });

  it("leaves functions without an environment as they are: imported functions and aliases", () => {
    const stack = unitStack();
    const mixin = new UseIdempotency(new IdempotencyTable(stack, "Table"));
    const { currentVersion: version } = aFunction(stack);
    const arn = "arn:aws:lambda:eu-west-1:111111111111:function:other";

    new Alias(stack, "Live", { aliasName: "live", version }).with(mixin);
    LambdaFunction.fromFunctionArn(stack, "Other", arn).with(mixin);

    Template.fromStack(stack).resourceCountIs("AWS::IAM::Policy", 0);
  });

  it.each([
    ["a table", (stack: Stack) => new IdempotencyTable(stack, "Other")],
    ["a construct without functions", (stack: Stack) => new Construct(stack, "Other")],
    ["a stack without functions", (stack: Stack) => new Stack(Stack.of(stack).node.root as App, "Other")],
  ])("fails the synthesis if it is applied to %s, with the path", (_, other) => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    const mixin = new UseIdempotency(table);
    aFunction(stack).with(mixin);
    const wrong = other(stack).with(mixin);

    expect(faultsOf(Stack.of(wrong))).toContain(
      `UseIdempotency of Test/Table is applied to ${wrong.node.path}, which contains no Lambda function: apply it to the function that runs operations`,
    );
  });

  it("names the app if nothing in the app is a function", () => {
    const stack = unitStack();
    stack.node.root.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));

    expect(faultsOf(stack)).toContain("is applied to the app, which contains no Lambda function");
  });

  it("reports an alias or an imported function to which it is applied directly, and nothing inside a stack", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    const options = { operations: ["pay"] };
    new Alias(stack, "Live", { aliasName: "live", version: aFunction(stack).currentVersion });
    Mixins.of(stack).apply(new UseIdempotency(table, options));
    expect(Annotations.fromStack(stack).findWarning("*", Match.anyValue())).toEqual([]);

    const alias = stack.node.findChild("Live");
    alias.with(new UseIdempotency(table, options));
    expect(
      Annotations.fromStack(stack).findWarning("/Test/Live", Match.stringLikeRegexp("an alias")),
    ).toHaveLength(1);
  });

  it("is refused a second time: the first table would be granted and not used, and rights add up", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    const fn = aFunction(stack).with(new UseIdempotency(table));
    const fenced = new IdempotentFunction(stack, "Fenced", { entry, table, operations: ["create-order"] });

    const other = new UseIdempotency(new IdempotencyTable(stack, "Other"));
    expect(() => fn.with(other)).toThrow(
      "Test/Fn already has UseIdempotency, and would get that of Test/Other as well: apply it once, with all options",
    );
    expect(() => fenced.with(new UseIdempotency(table))).toThrow("Test/Fenced already has UseIdempotency");
  });

  it("is rejected for anything but a function", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    const mixin = new UseIdempotency(table);

    expect(mixin.supports(table)).toBe(false);
    expect(mixin.supports(stack)).toBe(false);
    expect(() => mixin.applyTo(table)).toThrow("Test/Table isn't a Lambda function");
  });
});
