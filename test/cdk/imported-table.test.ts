import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { type MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, type IdempotencyTableAttributes, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { WITHOUT_MESSAGES } from "../../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

const tableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/records";
const tableStreamArn = `${tableArn}/stream/2026-01-01T00:00:00.000`;

describe("IdempotencyTable.fromTableAttributes", () => {
  it("makes nothing, and connects functions all the same", () => {
    const stack = unitStack();
    const table = IdempotencyTable.fromTableAttributes(stack, "Table", { tableArn });
    aFunction(stack).with(new UseIdempotency(table));

    const template = Template.fromStack(stack);
    template.resourceCountIs("AWS::DynamoDB::GlobalTable", 0);
    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: [
          { Action: "dynamodb:GetItem", Effect: "Allow", Resource: tableArn },
          {
            Action: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
            Effect: "Allow",
            Resource: tableArn,
            Condition: WITHOUT_MESSAGES,
          },
        ],
      },
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: { IDEMPOTENCY_TABLE: "records" } },
    });
  });

  it("grants the use of the key that it is told about", () => {
    const stack = unitStack();
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const encryptionKey = Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-1:111111111111:key/a");
    IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableName: "records",
      encryptionKey,
    }).grantIdempotency(role);

    const [policy] = Object.values(Template.fromStack(stack).findResources("AWS::IAM::Policy"));
    expect(policy?.Properties.PolicyDocument.Statement.at(-1).Resource).toBe(encryptionKey.keyArn);
  });

  it("has an outbox where it has a stream", () => {
    const stack = unitStack();
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const table = IdempotencyTable.fromTableAttributes(stack, "Table", { tableArn, tableStreamArn });
    const without = IdempotencyTable.fromTableAttributes(stack, "Without", { tableArn });

    expect([table.hasOutbox, without.hasOutbox]).toEqual([true, false]);
    expect(table.grantSweeper(role).success).toBe(true);
    expect([table.outboxShards, without.outboxShards]).toEqual([8, 0]);
    expect(() => without.grantRelay(role)).toThrow("outbox of Test/Without is off");
  });

  it("has the shards that it is told, with an outbox only", () => {
    const imported = (attributes: IdempotencyTableAttributes) =>
      IdempotencyTable.fromTableAttributes(unitStack(), "Table", { tableArn, ...attributes }).outboxShards;

    expect(imported({ tableStreamArn, outboxShards: 16 })).toBe(16);
    expect(imported({ tableStreamArn, outboxShards: undefined })).toBe(8);
    expect(() => imported({ outboxShards: 16 })).toThrow(
      "outboxShards of Test/Table is 16, and it has no outbox: leave it out",
    );
    expect(() => imported({ tableStreamArn, outboxShards: 0 })).toThrow(
      "make it a whole number from 1 to 1000",
    );
  });

  it("takes a name or an ARN, not both", () => {
    const both = { tableArn, tableName: "records" };

    expect(() => IdempotencyTable.fromTableAttributes(unitStack(), "Table", both)).toThrow("tableName");
  });
});

describe("an imported table of the same app", () => {
  const warnings = (timeToLiveAttribute: string | undefined, byArn: boolean) => {
    const stack = unitStack();
    const own = new TableV2(stack, "Own", {
      partitionKey: { name: "pk", type: AttributeType.STRING },
      ...(timeToLiveAttribute && { timeToLiveAttribute }),
    });
    const named = byArn ? { tableArn: own.tableArn } : { tableName: own.tableName };
    IdempotencyTable.fromTableAttributes(stack, "Table", named);
    return Annotations.fromStack(stack).findWarning("/Test/Table", Match.anyValue());
  };

  it.each([true, false])("is told where it has no TTL (by ARN: %s)", (byArn) => {
    const [warning, ...others] = warnings(undefined, byArn);

    expect(others).toEqual([]);
    expect(warning?.entry.data).toContain(
      'Test/Own, which Test/Table uses, has no timeToLiveAttribute, so that no record is ever deleted: set it to "expiresAt"',
    );
  });

  it("may call the attribute as its stores do", () => {
    expect(warnings("ttl", false)).toEqual([]);
  });
});

describe("metrics of an idempotency table", () => {
  const stack = unitStack();
  const tables = [
    new IdempotencyTable(stack, "Made"),
    IdempotencyTable.fromTableAttributes(stack, "Imported", { tableArn }),
  ];

  it("are those of the table", () => {
    for (const table of tables) {
      const metric = table.metricConditionalCheckFailedRequests({ statistic: "Sum" });

      expect(metric).toBeInstanceOf(Metric);
      expect(metric).toMatchObject({
        metricName: "ConditionalCheckFailedRequests",
        dimensions: { TableName: table.table.tableName },
      });
    }
  });

  it("count throttles and failures over the requests that handlers make", () => {
    for (const table of tables) {
      for (const metric of [table.metricThrottledRequests(), table.metricSystemErrors()]) {
        expect(Object.keys((metric as MathExpression).usingMetrics)).toEqual([
          "getitem",
          "putitem",
          "updateitem",
          "transactwriteitems",
        ]);
      }
    }
  });
});
