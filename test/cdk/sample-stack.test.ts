import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { SampleStack } from "../../bin/sample-stack.ts";
import { unitApp } from "../cdk/app-given.ts";
import { RECEIVING, type Right, rightsOf as rolesRights, WITHOUT_MESSAGES } from "../kit/rights.ts";

const templateOf = (ephemeral: boolean): Template =>
  Template.fromStack(new SampleStack(unitApp(), "Sample", { ephemeral, tokenDigests: {} }));

const template = templateOf(false);
const ephemeral = templateOf(true);

const ONLY_IN_TRANSACTIONS = {
  "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
};

const STATEFUL_TYPES = ["AWS::DynamoDB::GlobalTable", "AWS::SQS::Queue", "AWS::Logs::LogGroup"] as const;

function countsOf(of: Template) {
  const [tables, queues, logGroups] = STATEFUL_TYPES.map(
    (type) => Object.keys(of.findResources(type)).length,
  );
  return { tables, queues, logGroups };
}

/** The rights to run one operation, with results that fit into its records, and with commits. */
function runs(operation: string): Right[] {
  const condition = {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [`${operation}#*`] },
    Null: { "dynamodb:LeadingKeys": "false" },
  };
  return [
    {
      on: "Idempotency",
      actions: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
      condition,
    },
  ];
}

/** The rights to run a batch with records that ask together: a statement carries no messages. */
function runsBatches(operation: string): Right[] {
  const [own] = runs(operation) as [Right];
  return [
    own,
    { ...own, actions: ["dynamodb:BatchGetItem"] },
    {
      ...own,
      actions: ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"],
      condition: {
        ...own.condition,
        ...WITHOUT_MESSAGES,
        Null: { "dynamodb:LeadingKeys": "false", "dynamodb:Attributes": "false" },
      },
    },
  ];
}

/** To write its logs aside, which every function may. */
function rightsOf(functionId: string, of = template): Right[] {
  const [logs, ...rights] = rolesRights(of, functionId);
  expect(logs).toEqual({
    on: expect.stringMatching(`^${functionId}Logs$`),
    actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
  });
  return rights;
}

describe("SampleStack", () => {
  it("lets create-order run its operation, and write orders within a transaction only", () => {
    expect(rightsOf("CreateOrder")).toEqual([
      ...runs("create-order"),
      { on: "Orders", actions: ["dynamodb:PutItem"], condition: ONLY_IN_TRANSACTIONS },
    ]);
  });

  it("lets get-order read orders, and authorize nothing", () => {
    expect(rightsOf("GetOrder")).toEqual([{ on: "Orders", actions: ["dynamodb:GetItem"] }]);
    expect(rightsOf("ApiAuthorize")).toEqual([]);
  });

  it("lets charge-payment consume its queue by the batch, read orders, and write within a transaction only", () => {
    expect(rightsOf("ChargePayment")).toEqual([
      ...runsBatches("charge-payment"),
      { on: "Orders", actions: ["dynamodb:GetItem"] },
      { on: "Orders", actions: ["dynamodb:UpdateItem"], condition: ONLY_IN_TRANSACTIONS },
      { on: "Payments", actions: ["dynamodb:PutItem"], condition: ONLY_IN_TRANSACTIONS },
      {
        on: "PaymentsQueue",
        actions: RECEIVING,
      },
    ]);
  });

  it("lets place-order run its operation, and write orders and stock within a transaction only", () => {
    expect(rightsOf("PlaceOrder")).toEqual([
      ...runs("place-order"),
      {
        on: "Orders",
        actions: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
        condition: ONLY_IN_TRANSACTIONS,
      },
      { on: "Stock", actions: ["dynamodb:UpdateItem"], condition: ONLY_IN_TRANSACTIONS },
    ]);
  });

  it("lets fulfil-order run its steps and checkpoint its executions, and start-fulfilment start them", () => {
    const [run] = runs("fulfil-order") as [Right];
    const executions = "FulfilOrder:*/durable-execution/*";

    expect(rightsOf("FulfilOrder")).toEqual([
      {
        ...run,
        condition: {
          ...run.condition,
          "ForAllValues:StringLike": {
            "dynamodb:LeadingKeys": ["fulfil-order#*", "place#*", "charge#*", "ship#*"],
          },
        },
      },
      {
        on: "Orders",
        actions: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
        condition: ONLY_IN_TRANSACTIONS,
      },
      { on: "Shipments", actions: ["dynamodb:PutItem"], condition: ONLY_IN_TRANSACTIONS },
      {
        on: executions,
        actions: ["lambda:CheckpointDurableExecution", "lambda:GetDurableExecutionState"],
      },
      { on: executions, actions: ["lambda:GetDurableExecution"] },
    ]);
    expect(rightsOf("StartFulfilment")).toEqual([
      { on: "FulfilOrderAliaslive", actions: ["lambda:InvokeFunction"] },
      { on: "FulfilOrder", actions: ["lambda:ListDurableExecutionsByFunction"] },
      { on: executions, actions: ["lambda:GetDurableExecution"] },
    ]);
  });

  it("lets relay and sweeper send to the one queue", () => {
    for (const functionId of ["OutboxRelay", "OutboxSweeper"]) {
      expect(rightsOf(functionId).filter(({ on }) => !on.startsWith("Idempotency"))).toEqual([
        { on: "PaymentsQueue", actions: ["sqs:SendMessage"] },
      ]);
    }
  });

  it("keeps the sandbox gateway apart: it has its own ledger and nothing else", () => {
    expect(rightsOf("SandboxGateway", ephemeral)).toEqual([
      { on: "Ledger", actions: ["dynamodb:UpdateItem"] },
    ]);
    expect(rightsOf("SandboxDesk", ephemeral)).toEqual([
      { on: "Ledger", actions: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"] },
    ]);
  });

  it("puts an authorizer in front of every route", () => {
    const routes = Object.values(ephemeral.findResources("AWS::ApiGatewayV2::Route"));

    expect(routes.map(({ Properties }) => Properties.RouteKey).sort()).toEqual([
      "GET /charges",
      "GET /orders/{id}",
      "POST /charges",
      "POST /fulfilled-orders",
      "POST /orders",
      "POST /refunds",
      "POST /shipments",
      "POST /shipped-orders",
    ]);
    for (const { Properties } of routes) {
      expect(Properties).toMatchObject({
        AuthorizationType: "CUSTOM",
        AuthorizerId: { Ref: expect.stringMatching(/BearerToken/) },
      });
    }
  });

  it("gives the sandbox's token to the functions that charge only, and tenants no access to the sandbox", () => {
    const environments = Object.entries(ephemeral.findResources("AWS::Lambda::Function")).map(
      ([logicalId, { Properties }]) => [logicalId, JSON.stringify(Properties.Environment)] as const,
    );

    const knowing = environments.filter(([, text]) => text?.includes("shop-sandbox-token"));
    expect(knowing.map(([logicalId]) => logicalId).sort()).toEqual([
      expect.stringMatching(/^ChargePayment/),
      expect.stringMatching(/^FulfilOrder/),
      expect.stringMatching(/^PlaceOrder/),
    ]);
    const authorizer = environments.find(([logicalId]) => logicalId.startsWith("GatewayApiAuthorize"));
    expect(authorizer?.[1]).toMatch(/shop/);
    expect(authorizer?.[1]).not.toMatch(/acme|globex/);
  });

  it("has no sandbox unless it is ephemeral: a real deployment names the gateway", () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/sandbox|Ledger|charges"/i);
    template.hasParameter("PaymentGatewayUrl", { Default: Match.absent(), AllowedPattern: "https://.*[^/]" });
    template.hasParameter("PaymentGatewayToken", { Default: Match.absent(), NoEcho: true, MinLength: 1 });
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: {
        Variables: Match.objectLike({
          GATEWAY_URL: { Ref: "PaymentGatewayUrl" },
          GATEWAY_TOKEN: { Ref: "PaymentGatewayToken" },
        }),
      },
    });
    expect(ephemeral.findParameters("PaymentGateway*")).toEqual({});
  });

  it("runs functions on Node.js 24 and ARM", () => {
    for (const each of [template, ephemeral]) {
      each.allResourcesProperties("AWS::Lambda::Function", {
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
      });
    }
  });

  it("keeps its tables, queues and logs, unless it is ephemeral", () => {
    for (const type of STATEFUL_TYPES) {
      template.allResources(type, { DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
      ephemeral.allResources(type, { DeletionPolicy: "Delete", UpdateReplacePolicy: "Delete" });
    }
    expect(countsOf(template)).toEqual({ tables: 5, queues: 2, logGroups: 10 });
    expect(countsOf(ephemeral)).toEqual({ tables: 6, queues: 2, logGroups: 14 });
  });

  it("protects its tables from deletion, unless it is ephemeral", () => {
    for (const [each, DeletionProtectionEnabled] of [
      [template, true],
      [ephemeral, false],
    ] as const) {
      each.allResourcesProperties("AWS::DynamoDB::GlobalTable", {
        Replicas: [Match.objectLike({ DeletionProtectionEnabled })],
      });
    }
  });

  it("limits and logs the requests of each API", () => {
    ephemeral.resourceCountIs("AWS::ApiGatewayV2::Stage", 2);
    ephemeral.allResourcesProperties("AWS::ApiGatewayV2::Stage", {
      StageName: "$default",
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
      AccessLogSettings: Match.objectLike({
        DestinationArn: { "Fn::GetAtt": [Match.stringLikeRegexp("AccessLogs"), "Arn"] },
      }),
    });
  });

  it("publishes demo tokens only if it is ephemeral", () => {
    expect(template.findOutputs("DemoTokens")).toEqual({});
    expect(Object.keys(ephemeral.findOutputs("DemoTokens"))).toEqual(["DemoTokens"]);
  });
});
