import { RemovalPolicy, type Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { type MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import {
  AttributeType,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
  TableEncryptionV2,
  type TablePropsV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, type IdempotencyTableAttributes, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { WITHOUT_MESSAGES } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction, faultsOf } from "./given.ts";

const PK = { name: "pk", type: AttributeType.STRING };
const SK = { name: "SK", type: AttributeType.STRING };

const tableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/records";
const tableStreamArn = `${tableArn}/stream/2026-01-01T00:00:00.000`;

describe("IdempotencyTable.fromTableAttributes", () => {
  it("creates nothing, and connects functions anyway", () => {
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

  it("grants the use of the declared key", () => {
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

  it("has an outbox if it has a stream", () => {
    const stack = unitStack();
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const table = IdempotencyTable.fromTableAttributes(stack, "Table", { tableArn, tableStreamArn });
    const without = IdempotencyTable.fromTableAttributes(stack, "Without", { tableArn });

    expect([table.hasOutbox, without.hasOutbox]).toEqual([true, false]);
    expect(table.grantSweeper(role).success).toBe(true);
    expect([table.outboxShards, without.outboxShards]).toEqual([8, 0]);
    expect(() => without.grantRelay(role)).toThrow("outbox of Test/Without is off");
  });

  it("has the declared shards, with an outbox only", () => {
    const imported = (attributes: IdempotencyTableAttributes) =>
      IdempotencyTable.fromTableAttributes(unitStack(), "Table", { tableArn, ...attributes }).outboxShards;

    expect(imported({ tableStreamArn, outboxShards: 16 })).toBe(16);
    expect(imported({ tableStreamArn, outboxShards: undefined })).toBe(8);
    expect(() => imported({ outboxShards: 16 })).toThrow(
      "outboxShards of Test/Table is 16, but the table has no outbox: leave it out",
    );
    expect(() => imported({ tableStreamArn, outboxShards: 0 })).toThrow("use a whole number from 1 to 1000");
  });

  it("accepts a name or an ARN, not both", () => {
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

  it.each([true, false])("gets a warning if it has no TTL (by ARN: %s)", (byArn) => {
    const [warning, ...others] = warnings(undefined, byArn);

    expect(others).toEqual([]);
    expect(warning?.entry.data).toContain(
      'Test/Own, which Test/Table uses, has no timeToLiveAttribute, so records are never deleted: set it to "expiresAt"',
    );
  });
});

describe("an imported table of the same app, at synthesis", () => {
  type Own = Partial<TablePropsV2> & {
    readonly isFirstVersion?: boolean;
    readonly indexes?: readonly Index[];
  };
  type Index = readonly [indexName: string, partitionKey: string, sortKey: string];

  const OUTBOX: Index = ["outbox", "unsentShard", "unsentSince"];
  const UNSETTLED: Index = ["unsettled", "unsettledShard", "unsettledSince"];
  const indexOf = ([indexName, partitionKey, since]: Index) => ({
    indexName,
    partitionKey: { name: partitionKey, type: AttributeType.NUMBER },
    sortKey: { name: since, type: AttributeType.NUMBER },
    projectionType: ProjectionType.KEYS_ONLY,
  });

  function faults(
    { isFirstVersion = false, indexes = [OUTBOX], ...own }: Own,
    given: IdempotencyTableAttributes | ((stack: Stack) => IdempotencyTableAttributes) = {},
  ): string {
    const stack = unitStack({ env: { account: "111111111111", region: "eu-west-1" } });
    const common = { partitionKey: PK, timeToLiveAttribute: "expiresAt" };
    const { dynamoStream, sortKey = undefined } = own;
    const made = isFirstVersion
      ? new Table(stack, "Own", {
          ...common,
          ...(sortKey && { sortKey }),
          ...(dynamoStream && { stream: dynamoStream }),
        })
      : new TableV2(stack, "Own", { ...common, ...own, globalSecondaryIndexes: indexes.map(indexOf) });
    if (made instanceof Table) for (const index of indexes) made.addGlobalSecondaryIndex(indexOf(index));
    IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableName: made.tableName,
      ...(dynamoStream && { tableStreamArn: made.tableStreamArn as string }),
      ...(typeof given === "function" ? given(stack) : given),
    });
    return faultsOf(stack);
  }

  it("is accepted as it is with the usual names, and if everything is declared", () => {
    expect(faults({})).toBe("");
    expect(faults({ isFirstVersion: true, dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES })).toBe("");
    expect(
      faults(
        { partitionKey: { ...PK, name: "PK" }, sortKey: SK, timeToLiveAttribute: "ttl" },
        { partitionKey: "PK", sortKey: { name: "SK", value: "ONCE" }, ttlAttribute: "ttl" },
      ),
    ).toBe("");
  });

  it("is refused with keys of other names", () => {
    expect(faults({ partitionKey: { ...PK, name: "PK" }, sortKey: SK })).toContain(
      "Test/Own, which Test/Table uses, has the key PK and the sort key SK, but Test/Table is declared with pk: every request would be refused",
    );
    expect(faults({ isFirstVersion: true, sortKey: SK })).toContain("has the key pk and the sort key SK");
    expect(faults({}, { partitionKey: "PK" })).toContain(
      "has the key pk, but Test/Table is declared with PK",
    );
  });

  it("is rejected if TTL deletes by another attribute", () => {
    expect(faults({ timeToLiveAttribute: "ttl" })).toContain(
      'expires items by the attribute "ttl", but Test/Table is declared with "expiresAt": no record would be deleted',
    );
  });

  it("is rejected if its customer key is forgotten", () => {
    const of = (isKnown: boolean) => {
      const stack = unitStack({ env: { account: "111111111111", region: "eu-west-1" } });
      const encryptionKey = new Key(stack, "Key");
      const { tableName } = new TableV2(stack, "Own", {
        partitionKey: PK,
        timeToLiveAttribute: "expiresAt",
        encryption: TableEncryptionV2.customerManagedKey(encryptionKey),
      });
      const given = { tableName, ...(isKnown && { encryptionKey }) };
      IdempotencyTable.fromTableAttributes(stack, "Table", given);
      return faultsOf(stack);
    };

    expect(of(true)).toBe("");
    expect(of(false)).toContain(
      "Test/Own, which Test/Table uses, is encrypted with a customer managed key, but Test/Table doesn't know it",
    );
  });

  it("is refused with the key of an older table forgotten, and not with a key of DynamoDB or AWS", () => {
    const of = (encryption: TableEncryption) => {
      const stack = unitStack();
      const { tableName } = new Table(stack, "Own", {
        partitionKey: PK,
        timeToLiveAttribute: "expiresAt",
        encryption,
      });
      IdempotencyTable.fromTableAttributes(stack, "Table", { tableName });
      return faultsOf(stack);
    };

    expect(of(TableEncryption.CUSTOMER_MANAGED)).toContain("is encrypted with a customer managed key");
    expect([of(TableEncryption.DEFAULT), of(TableEncryption.AWS_MANAGED)]).toEqual(["", ""]);
  });

  it.each([false, true])("is rejected without the declared indexes (first version: %s)", (isFirstVersion) => {
    const dynamoStream = StreamViewType.NEW_IMAGE;
    const all = [OUTBOX, UNSETTLED];

    expect(faults({ isFirstVersion, dynamoStream, indexes: all }, { unknownOutcomes: true })).toBe("");
    expect(faults({ isFirstVersion, indexes: [] })).toBe("");
    expect(faults({ isFirstVersion, dynamoStream, indexes: [UNSETTLED] })).toContain(
      "Test/Table has tableStreamArn, which requires an index with the partition key unsentShard and the sort key unsentSince, both numbers, but Test/Own, which Test/Table uses, has no such index: waiting records would never be found",
    );
    expect(faults({ isFirstVersion, indexes: [OUTBOX] }, { unknownOutcomes: true })).toContain(
      'Test/Table has unknownOutcomes, which requires the index "unsettled"',
    );
    expect(
      faults({ isFirstVersion, dynamoStream, indexes: [["outbox", "unsettledShard", "unsettledSince"]] }),
    ).toContain("requires an index with the partition key unsentShard");
    expect(
      faults({ isFirstVersion, dynamoStream, indexes: [["unsent", "unsentShard", "unsentSince"]] }),
    ).toBe("");
  });

  it.each([StreamViewType.KEYS_ONLY, StreamViewType.OLD_IMAGE])("is refused with a stream of %s", (view) => {
    for (const isFirstVersion of [false, true]) {
      expect(faults({ dynamoStream: view, isFirstVersion })).toContain(
        `the stream of Test/Own, which Test/Table uses, has the view ${view}, but a relay reads messages from new images`,
      );
    }
  });
});

describe("an idempotency table as a resource", () => {
  it("has the place of the table, even if it is imported", () => {
    const stack = unitStack();
    const imported = IdempotencyTable.fromTableAttributes(stack, "Imported", { tableArn });
    const own = new IdempotencyTable(stack, "Own");

    expect(imported.env).toEqual({ account: "111111111111", region: "eu-west-1" });
    expect([imported.stack, own.stack]).toEqual([stack, stack]);
    expect(own.env).toEqual({ account: stack.account, region: stack.region });
  });

  it("accepts a removal policy, which its protection must allow", () => {
    const [open, kept] = [unitStack(), unitStack()];
    const isOpen = { deletionProtection: false };
    new IdempotencyTable(open, "Open", isOpen).applyRemovalPolicy(RemovalPolicy.DESTROY);
    new IdempotencyTable(kept, "Kept").applyRemovalPolicy(RemovalPolicy.DESTROY);

    Template.fromStack(open).hasResource("AWS::DynamoDB::GlobalTable", { DeletionPolicy: "Delete" });
    expect(faultsOf(kept)).toContain("deletionProtection of Test/Kept is true");
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
