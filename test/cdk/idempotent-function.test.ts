import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { App, Duration, PropertyInjectors, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LoggingFormat, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { IdempotencyTable, IdempotentFunction, type IdempotentFunctionProps } from "onceonly/cdk";
import { describe, expect, it, onTestFinished } from "vitest";
import { root } from "../kit/project.ts";
import { rightsOf, runsOperationsOn } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";

type Settings = Partial<IdempotentFunctionProps>;

const entry = fileURLToPath(new URL("../../functions/get-order.ts", import.meta.url));

function templateWith(settingsIn: (stack: Stack) => Settings = () => ({})): Template {
  const stack = unitStack();
  const table = new IdempotencyTable(stack, "Table");
  new IdempotentFunction(stack, "Fn", { entry, table, ...settingsIn(stack) });
  return Template.fromStack(stack);
}

describe("IdempotentFunction", () => {
  it("runs on Node.js 24 and ARM, for a second less than an HTTP API waits, and knows its table", () => {
    templateWith().hasResourceProperties("AWS::Lambda::Function", {
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Timeout: 29,
      MemorySize: 512,
      LoggingConfig: { LogFormat: "JSON", LogGroup: { Ref: Match.stringLikeRegexp("^FnLogs") } },
      Environment: {
        Variables: Match.objectLike({ IDEMPOTENCY_TABLE: { Ref: Match.stringLikeRegexp("^Table") } }),
      },
    });
  });

  it("may write to its own logs and run operations, and nothing else", () => {
    const template = templateWith();

    expect(rightsOf(template, "FnRole")).toEqual([
      { on: "FnLogs", actions: ["logs:CreateLogStream", "logs:PutLogEvents"] },
      ...runsOperationsOn("Table"),
    ]);
    template.allResourcesProperties("AWS::IAM::Role", { ManagedPolicyArns: Match.absent() });
  });

  it("keeps its logs for a month, and when it goes", () => {
    templateWith().hasResource("AWS::Logs::LogGroup", {
      DeletionPolicy: "Retain",
      Properties: { RetentionInDays: 30 },
    });
  });

  it("accepts the options of UseIdempotency", () => {
    const template = templateWith(() => ({
      operations: ["create-order"],
      largeResults: false,
      waiting: false,
      retention: Duration.days(3),
    }));

    expect(rightsOf(template, "FnRole")[1]).toMatchObject({
      actions: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
      condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["create-order#*"] } },
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ IDEMPOTENCY_RETENTION_SECONDS: "259200" }) },
    });
  });

  it("accepts the options of NodejsFunction", () => {
    const template = templateWith(() => ({
      memorySize: 1024,
      timeout: Duration.seconds(5),
      environment: { ORDERS_TABLE: "orders" },
      loggingFormat: LoggingFormat.TEXT,
      logRetention: RetentionDays.ONE_DAY,
      logRemovalPolicy: RemovalPolicy.DESTROY,
    }));

    template.hasResourceProperties("AWS::Lambda::Function", {
      MemorySize: 1024,
      Timeout: 5,
      LoggingConfig: Match.objectLike({ LogFormat: "Text" }),
      Environment: { Variables: Match.objectLike({ ORDERS_TABLE: "orders" }) },
    });
    template.hasResource("AWS::Logs::LogGroup", {
      DeletionPolicy: "Delete",
      Properties: { RetentionInDays: 1 },
    });
    template.resourceCountIs("Custom::LogRetention", 0);
  });

  it("accepts an existing role and log group", () => {
    const template = templateWith((stack) => ({
      role: new Role(stack, "Own", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") }),
      logGroup: new LogGroup(stack, "OwnLogs"),
    }));

    template.resourceCountIs("AWS::IAM::Role", 1);
    template.resourceCountIs("AWS::Logs::LogGroup", 1);
    expect(rightsOf(template, "Own")).toEqual(runsOperationsOn("Table"));
  });

  it("may create network interfaces if it runs in a VPC", () => {
    const template = templateWith((stack) => ({ vpc: new Vpc(stack, "Vpc", { natGateways: 0 }) }));

    template.hasResourceProperties("AWS::IAM::Role", {
      ManagedPolicyArns: [
        { "Fn::Join": ["", Match.arrayWith([Match.stringLikeRegexp("AWSLambdaVPCAccessExecutionRole$")])] },
      ],
    });
  });

  it("B7: may create network interfaces if a property injector of the app gives it a VPC", () => {
    const template = templateWith((stack) => {
      const vpc = new Vpc(stack, "Vpc", { natGateways: 0 });
      PropertyInjectors.of(stack).add({
        constructUniqueId: NodejsFunction.PROPERTY_INJECTION_ID,
        inject: (props) => ({ ...props, vpc }),
      });
      return {};
    });

    template.hasResourceProperties("AWS::Lambda::Function", { VpcConfig: Match.anyValue() });
    template.hasResourceProperties("AWS::IAM::Role", {
      ManagedPolicyArns: [
        { "Fn::Join": ["", Match.arrayWith([Match.stringLikeRegexp("AWSLambdaVPCAccessExecutionRole$")])] },
      ],
    });
  });

  it("B7: leaves a given role as it is", () => {
    const template = templateWith((stack) => ({
      role: new Role(stack, "Own", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") }),
      vpc: new Vpc(stack, "Vpc", { natGateways: 0 }),
    }));

    template.hasResourceProperties("AWS::IAM::Role", { ManagedPolicyArns: Match.absent() });
  });

  it.each<[string, Settings, boolean]>([
    ["Node.js 20 knows no attributes of imports", { runtime: Runtime.NODEJS_20_X }, false],
    ["Node.js 24 knows them", { runtime: Runtime.NODEJS_24_X }, true],
    ["Node.js 24, but the team has a target", { bundling: { target: "node20" } }, false],
    [
      "Node.js 20, but the team has a target",
      { runtime: Runtime.NODEJS_20_X, bundling: { target: "node24" } },
      true,
    ],
  ])("is bundled for its own runtime, unless the team names a target: %s", (_, settings, isKept) => {
    const outdir = mkdtempSync(join(root, "node_modules/.bundling-target-"));
    onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
    const source = join(outdir, "handler.js");
    writeFileSync(
      source,
      'import prices from "prices" with { type: "json" };\nexport const handler = async () => prices;',
    );
    const app = new App({ outdir: join(outdir, "out"), builtinCloudFormationValidation: false });
    const stack = new Stack(app, "Test");
    const table = new IdempotencyTable(stack, "Table");

    const bundling = { externalModules: ["prices"], ...settings.bundling };
    new IdempotentFunction(stack, "Fn", { entry: source, projectRoot: root, table, ...settings, bundling });

    const bundles = readdirSync(outdir, { recursive: true, encoding: "utf8" });
    const bundle = bundles.find((file) => file.endsWith("index.mjs")) ?? "";
    expect(/with ?\{ ?type/.test(readFileSync(join(outdir, bundle), "utf8"))).toBe(isKept);
  });
});
