import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { SampleStack, tokenDigestsOf } from "../../bin/sample-stack.ts";
import { unitApp } from "./unit-app.ts";

const templateOf = (ephemeral: boolean): Template =>
  Template.fromStack(new SampleStack(unitApp(), "Sample", { ephemeral, tokenDigests: {} }));

const template = templateOf(false);

/** Every statement that lets a function do something to a table, as action and condition. */
function tableStatements(of: Template, policy: RegExp): unknown[] {
  const [, found] =
    Object.entries(of.findResources("AWS::IAM::Policy")).find(([logicalId]) => policy.test(logicalId)) ?? [];
  return found?.Properties.PolicyDocument.Statement.map((statement: Record<string, unknown>) => ({
    Action: statement.Action,
    Condition: statement.Condition,
  }));
}

describe("SampleStack", () => {
  it("lets create-order run operations, and write orders within a transaction only", () => {
    expect(tableStatements(template, /^CreateOrder/)).toEqual([
      { Action: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"], Condition: undefined },
      {
        Action: "dynamodb:PutItem",
        Condition: {
          "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
        },
      },
    ]);
  });

  it("lets get-order read orders, and authorize touch no table", () => {
    expect(tableStatements(template, /^GetOrder/)).toEqual([
      { Action: "dynamodb:GetItem", Condition: undefined },
    ]);
    expect(tableStatements(template, /^Authorize/)).toBeUndefined();
  });

  it("puts the authorizer in front of every route", () => {
    const routes = Object.values(template.findResources("AWS::ApiGatewayV2::Route"));

    expect(routes.map(({ Properties }) => Properties.RouteKey).sort()).toEqual([
      "GET /orders/{id}",
      "POST /orders",
    ]);
    for (const { Properties } of routes) {
      expect(Properties).toMatchObject({
        AuthorizationType: "CUSTOM",
        AuthorizerId: { Ref: expect.stringMatching(/BearerToken/) },
      });
    }
  });

  it("runs functions on Node.js 24 and ARM", () => {
    template.allResourcesProperties("AWS::Lambda::Function", {
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
    });
  });

  it("keeps both tables, unless it is ephemeral", () => {
    template.allResources("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Retain",
      Properties: Match.objectLike({ Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })] }),
    });
    templateOf(true).allResources("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Delete",
      Properties: Match.objectLike({ Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] }),
    });
  });

  it("publishes demo tokens only where it is ephemeral", () => {
    expect(template.findOutputs("DemoTokens")).toEqual({});
    expect(Object.keys(templateOf(true).findOutputs("DemoTokens"))).toEqual(["DemoTokens"]);
  });
});

describe("tokenDigestsOf", () => {
  it("gives the SHA-256 of each token, not the token", () => {
    // printf secret | sha256sum
    expect(tokenDigestsOf({ acme: "secret" })).toEqual({
      acme: "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
    });
  });
});
