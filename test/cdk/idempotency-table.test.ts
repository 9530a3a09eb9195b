import { RemovalPolicy } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, type IdempotencyTableProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./unit-app.ts";

function templateWith(props?: IdempotencyTableProps): Template {
  const stack = unitStack();
  new IdempotencyTable(stack, "Table", props);
  return Template.fromStack(stack);
}

function granted(props?: IdempotencyTableProps): Template {
  const stack = unitStack();
  const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  new IdempotencyTable(stack, "Table", props).grantIdempotency(role);
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

  it("takes a name, and point-in-time recovery off", () => {
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

  it("keeps its logical id, which a table lives and dies by", () => {
    expect(Object.keys(templateWith().findResources("AWS::DynamoDB::GlobalTable"))).toEqual([
      "Table7ABB320E",
    ]);
  });
});

describe("IdempotencyTable.grantIdempotency", () => {
  it("grants three actions on the table and nothing else", () => {
    const template = granted();

    template.resourceCountIs("AWS::IAM::Policy", 1);
    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: [
          {
            Action: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            Effect: "Allow",
            Resource: { "Fn::GetAtt": ["Table7ABB320E", "Arn"] },
          },
        ],
      },
    });
  });

  it("grants the use of a customer managed key as well", () => {
    const stack = unitStack({ env: { region: "eu-west-1" } });
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const encryptionKey = new Key(stack, "Key");

    new IdempotencyTable(stack, "Table", { encryptionKey }).grantIdempotency(role);

    Template.fromStack(stack).hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: Match.arrayWith(["kms:Decrypt"]),
            Resource: { "Fn::GetAtt": [Match.stringLikeRegexp("^Key"), "Arn"] },
          }),
        ]),
      },
    });
  });
});
