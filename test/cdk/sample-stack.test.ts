import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { SampleStack } from "../../bin/sample-stack.ts";
import { unitApp } from "./unit-app.ts";

const templateOf = (ephemeral: boolean): Template =>
  Template.fromStack(new SampleStack(unitApp(), "Sample", { ephemeral, tokenDigests: {} }));

const template = templateOf(false);
const ephemeral = templateOf(true);

const IN_TRANSACTIONS = {
  "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
};
const RUNS_OPERATIONS = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"];
const MARKS = { Idempotency: ["dynamodb:GetItem", "dynamodb:UpdateItem"] };
const DELETES_IN_TRANSACTIONS = {
  Idempotency: "dynamodb:DeleteItem",
  Condition: { "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] } },
};

/** Every right that a function has, as `<resource>: <actions>`, and the condition where there is one. */
function rightsOf(functionId: string, of = template): unknown[] {
  const [, policy] =
    Object.entries(of.findResources("AWS::IAM::Policy")).find(([logicalId]) =>
      logicalId.startsWith(`${functionId}ServiceRole`),
    ) ?? [];
  const statements: Record<string, unknown>[] = policy?.Properties.PolicyDocument.Statement ?? [];
  return statements.map(({ Action, Resource, Condition }) => {
    const [, resource] = /"([A-Z][A-Za-z]+?)[0-9A-F]{8}"/.exec(JSON.stringify(Resource)) ?? [];
    const index = JSON.stringify(Resource).includes("/index/outbox") ? "/index/outbox" : "";
    const right = { [`${resource}${index}`]: Action };
    return Condition === undefined ? right : { ...right, Condition };
  });
}

describe("SampleStack", () => {
  it("lets create-order run operations, and write orders within a transaction only", () => {
    expect(rightsOf("CreateOrder")).toEqual([
      { Idempotency: RUNS_OPERATIONS },
      { Orders: "dynamodb:PutItem", Condition: IN_TRANSACTIONS },
    ]);
  });

  it("lets get-order read orders, and authorize nothing", () => {
    expect(rightsOf("GetOrder")).toEqual([{ Orders: "dynamodb:GetItem" }]);
    expect(rightsOf("ApiAuthorize")).toEqual([]);
  });

  it("lets charge-payment consume its queue, read orders, and write within a transaction only", () => {
    expect(rightsOf("ChargePayment")).toEqual([
      { Idempotency: RUNS_OPERATIONS },
      { Orders: "dynamodb:GetItem" },
      { Orders: "dynamodb:UpdateItem", Condition: IN_TRANSACTIONS },
      { Payments: "dynamodb:PutItem", Condition: IN_TRANSACTIONS },
      {
        PaymentsQueue: [
          "sqs:ReceiveMessage",
          "sqs:ChangeMessageVisibility",
          "sqs:GetQueueUrl",
          "sqs:DeleteMessage",
          "sqs:GetQueueAttributes",
        ],
      },
    ]);
  });

  it("lets relay and sweeper mark records and send to the one queue", () => {
    expect(rightsOf("RelayOutbox")).toEqual([
      MARKS,
      DELETES_IN_TRANSACTIONS,
      { PaymentsQueue: "sqs:SendMessage" },
      { Idempotency: "dynamodb:ListStreams" },
      { Idempotency: ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"] },
    ]);
    expect(rightsOf("SweepOutbox")).toEqual([
      MARKS,
      DELETES_IN_TRANSACTIONS,
      { "Idempotency/index/outbox": "dynamodb:Query" },
      { PaymentsQueue: "sqs:SendMessage" },
    ]);
  });

  it("keeps the sandbox gateway apart: it has a ledger of its own and nothing else", () => {
    expect(rightsOf("SandboxGateway", ephemeral)).toEqual([{ Ledger: "dynamodb:UpdateItem" }]);
  });

  it("puts an authorizer in front of every route", () => {
    const routes = Object.values(ephemeral.findResources("AWS::ApiGatewayV2::Route"));

    expect(routes.map(({ Properties }) => Properties.RouteKey).sort()).toEqual([
      "GET /orders/{id}",
      "POST /charges",
      "POST /orders",
    ]);
    for (const { Properties } of routes) {
      expect(Properties).toMatchObject({
        AuthorizationType: "CUSTOM",
        AuthorizerId: { Ref: expect.stringMatching(/BearerToken/) },
      });
    }
  });

  it("gives the sandbox's token to charge-payment alone, and to tenants no access to the sandbox", () => {
    const environments = Object.entries(ephemeral.findResources("AWS::Lambda::Function")).map(
      ([logicalId, { Properties }]) => [logicalId, JSON.stringify(Properties.Environment)] as const,
    );

    const knowing = environments.filter(([, text]) => text?.includes("shop-sandbox-token"));
    expect(knowing.map(([logicalId]) => logicalId)).toEqual([expect.stringMatching(/^ChargePayment/)]);
    const authorizer = environments.find(([logicalId]) => logicalId.startsWith("GatewayApiAuthorize"));
    expect(authorizer?.[1]).toMatch(/shop/);
    expect(authorizer?.[1]).not.toMatch(/acme|globex/);
  });

  it("has no sandbox unless it is ephemeral: who deploys it names the gateway", () => {
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

  it("keeps its tables, unless it is ephemeral", () => {
    template.resourceCountIs("AWS::DynamoDB::GlobalTable", 3);
    template.allResources("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Retain",
      Properties: Match.objectLike({ Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })] }),
    });
    ephemeral.resourceCountIs("AWS::DynamoDB::GlobalTable", 4);
    ephemeral.allResources("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Delete",
      Properties: Match.objectLike({ Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] }),
    });
  });

  it("publishes demo tokens only where it is ephemeral", () => {
    expect(template.findOutputs("DemoTokens")).toEqual({});
    expect(Object.keys(ephemeral.findOutputs("DemoTokens"))).toEqual(["DemoTokens"]);
  });
});
