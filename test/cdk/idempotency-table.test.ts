import { RemovalPolicy } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { ContributorInsightsMode } from "aws-cdk-lib/aws-dynamodb";
import { AccountPrincipal, PolicyDocument, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { IdempotencyTable, type IdempotencyTableProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./app-given.ts";

function templateWith(props?: IdempotencyTableProps): Template {
  const stack = unitStack();
  new IdempotencyTable(stack, "Table", props);
  return Template.fromStack(stack);
}

describe("IdempotencyTable", () => {
  it("has the key and the TTL attribute that the runtime uses", () => {
    templateWith().hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      StreamSpecification: Match.absent(),
    });
  });

  it("is on-demand, without a cap that would refuse claims", () => {
    templateWith().hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      BillingMode: "PAY_PER_REQUEST",
      WriteOnDemandThroughputSettings: Match.absent(),
    });
  });

  it("stays when its stack goes, and can be restored", () => {
    const template = templateWith();

    template.hasResource("AWS::DynamoDB::GlobalTable", {
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
    });
    template.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    });
  });

  it("drops its protection together with its retention", () => {
    const template = templateWith({ removalPolicy: RemovalPolicy.DESTROY });

    template.hasResource("AWS::DynamoDB::GlobalTable", { DeletionPolicy: "Delete" });
    template.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })],
    });
  });

  it("refuses deletion protection on a table that goes with its stack", () => {
    expect(() => templateWith({ removalPolicy: RemovalPolicy.DESTROY, deletionProtection: true })).toThrow(
      "deletionProtection of Test/Table is true and its removalPolicy is destroy",
    );
  });

  it("accepts a name, and point-in-time recovery off", () => {
    templateWith({ tableName: "records", pointInTimeRecovery: false }).hasResourceProperties(
      "AWS::DynamoDB::GlobalTable",
      {
        TableName: "records",
        Replicas: [
          Match.objectLike({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false } }),
        ],
      },
    );
  });

  it("accepts a cap, warm throughput, contributor insights and a resource policy", () => {
    templateWith({
      maxWriteRequestUnits: 5000,
      warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 8000 },
      contributorInsightsSpecification: { enabled: true, mode: ContributorInsightsMode.THROTTLED_KEYS },
      resourcePolicy: new PolicyDocument({
        statements: [
          new PolicyStatement({
            actions: ["dynamodb:UpdateItem"],
            principals: [new AccountPrincipal("222222222222")],
            resources: ["*"],
          }),
        ],
      }),
    }).hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      BillingMode: "PAY_PER_REQUEST",
      WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 5000 },
      WarmThroughput: { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 8000 },
      Replicas: [
        Match.objectLike({
          ContributorInsightsSpecification: { Enabled: true, Mode: "THROTTLED_KEYS" },
          ResourcePolicy: { PolicyDocument: Match.objectLike({ Statement: [Match.anyValue()] }) },
        }),
      ],
    });
  });

  it("keeps its logical id, which a table lives and dies by", () => {
    expect(Object.keys(templateWith().findResources("AWS::DynamoDB::GlobalTable"))).toEqual([
      "TableCD117FA1",
    ]);
  });
});
