// Customer keys that are not of this stack: by an ARN that is only known at deployment, of another account, of another stack.
import { App, Fn, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { CommitGrants, DedupQueue, IdempotencyTable, OutboxRelay, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { aFunction } from "./given.ts";

const env = { account: "111111111111", region: "eu-west-1" };

const KEYS: Readonly<Record<string, (stack: Stack) => IKey>> = {
  "by a token": (stack) => Key.fromKeyArn(stack, "Key", Fn.importValue("KeyArn")),
  "of another account": (stack) =>
    Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-1:222222222222:key/theirs"),
  "of another Region": (stack) => Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-2:111111111111:key/far"),
  "of another stack": (stack) => new Key(new Stack(stack.node.root, "Other", { env }), "Key"),
  "of this stack": (stack) => new Key(stack, "Key"),
};

const USES: Readonly<Record<string, (stack: Stack, key: IKey) => void>> = {
  IdempotencyTable: (stack, encryptionKey) => {
    const table = IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableName: "records",
      encryptionKey,
    });
    aFunction(stack).with(new UseIdempotency(table, { operations: ["pay"] }));
  },
  CommitGrants: (stack, encryptionKey) => {
    const rows = TableV2.fromTableAttributes(stack, "Rows", { tableName: "rows", encryptionKey });
    CommitGrants.fromTable(rows).actions(aFunction(stack), "dynamodb:PutItem");
  },
  DedupQueue: (stack, encryptionKey) => {
    new DedupQueue(stack, "Queue", { encryptionKey }).grantProduce(aFunction(stack));
  },
  OutboxRelay: (stack, encryptionMasterKey) => {
    const table = new IdempotencyTable(stack, "Table", { outbox: true });
    const encryption = QueueEncryption.KMS;
    const queue = new Queue(stack, "Queue", { encryption, encryptionMasterKey });
    new OutboxRelay(stack, "Outbox", { table, destinations: [queue] });
  },
};

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

describe.each(Object.entries(USES))("B2: %s", (name, use) => {
  it.each(Object.entries(KEYS))("uses a key through its service only: %s", (_, makeKey) => {
    const app = new App({ builtinCloudFormationValidation: false, analyticsReporting: false });
    const stack = new Stack(app, "Test", { env });
    use(stack, makeKey(stack));

    const policies = Object.values(Template.fromStack(stack).findResources("AWS::IAM::Policy"));
    const ofKeys = policies
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as readonly Statement[])
      .filter(({ Action }) => [Action].flat().some((action) => action.startsWith("kms:")));

    expect(ofKeys.length, name).toBeGreaterThan(0);
    for (const { Condition, Resource } of ofKeys) {
      expect(JSON.stringify(Condition)).toContain("kms:ViaService");
      expect(Resource).not.toBe("*");
    }
  });
});
