import { Match, Template } from "aws-cdk-lib/assertions";
import { type IGrantable, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, type IdempotencyTableProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { eventFilter } from "../../packages/explorer/lib/aws/event-sources/event-filter.ts";
import { unitStack } from "./app-given.ts";

function templateOf(
  props: IdempotencyTableProps,
  grant: (table: IdempotencyTable, grantee: IGrantable) => unknown = () => undefined,
  isEncrypted = false,
): Template {
  const stack = unitStack({ env: { region: "eu-west-1" } });
  const encryptionKey = isEncrypted ? { encryptionKey: new Key(stack, "Key") } : {};
  const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  grant(new IdempotencyTable(stack, "Table", { ...props, ...encryptionKey }), role);
  return Template.fromStack(stack);
}

const TABLE_ARN = { "Fn::GetAtt": ["TableCD117FA1", "Arn"] };
const SENDING = [
  { Action: ["dynamodb:GetItem", "dynamodb:UpdateItem"], Effect: "Allow", Resource: TABLE_ARN },
  {
    Action: "dynamodb:DeleteItem",
    Effect: "Allow",
    Resource: TABLE_ARN,
    Condition: { "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] } },
  },
];
const SWEEPING = {
  Action: "dynamodb:Query",
  Effect: "Allow",
  Resource: { "Fn::Join": ["", [TABLE_ARN, "/index/outbox"]] },
};

const granting = (...Statement: unknown[]) => ({ PolicyDocument: { Statement } });

describe("IdempotencyTable with an outbox", () => {
  it("has a stream of new images, and a sparse index of keys", () => {
    templateOf({ outbox: true }).hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      StreamSpecification: { StreamViewType: "NEW_IMAGE" },
      GlobalSecondaryIndexes: [
        {
          IndexName: "outbox",
          KeySchema: [
            { AttributeName: "unsentShard", KeyType: "HASH" },
            { AttributeName: "unsentSince", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "unsentShard", AttributeType: "N" },
        { AttributeName: "unsentSince", AttributeType: "N" },
      ],
    });
  });

  it("has neither if it is off, as by default", () => {
    for (const props of [{}, { outbox: false }]) {
      templateOf(props).hasResourceProperties("AWS::DynamoDB::GlobalTable", {
        StreamSpecification: Match.absent(),
        GlobalSecondaryIndexes: Match.absent(),
      });
    }
  });

  it("keeps its logical id, so the outbox can be switched on later", () => {
    const tables = templateOf({ outbox: true }).findResources("AWS::DynamoDB::GlobalTable");

    expect(Object.keys(tables)).toEqual(["TableCD117FA1"]);
  });
});

describe("IdempotencyTable.outboxFilters", () => {
  const { outboxFilters } = new IdempotencyTable(unitStack(), "Table", { outbox: true });
  const passes = eventFilter({ Filters: outboxFilters.map(({ pattern }) => ({ Pattern: pattern })) });
  const change = (eventName: string, NewImage?: object) => ({
    eventName,
    dynamodb: { Keys: { pk: { S: "a" } }, NewImage },
  });

  it("lets through a record that leaves messages to be sent", () => {
    const unsent = { pk: { S: "a" }, unsentSince: { N: "1700000000000" }, messages: { S: "[]" } };

    expect(passes(change("INSERT", unsent))).toBe(true);
    expect(passes(change("MODIFY", unsent))).toBe(true);
  });

  it("keeps from the relay claims, completions, marks, expired records and items that hold messages", () => {
    const record = { pk: { S: "a" }, state: { S: "completed" }, completedAt: { N: "1700000000000" } };

    expect(passes(change("INSERT", record))).toBe(false);
    expect(passes(change("INSERT", { pk: { S: "a#messages#b#0" }, messages: { S: "[]" } }))).toBe(false);
    expect(passes(change("REMOVE"))).toBe(false);
  });
});

describe("IdempotencyTable.grantRelay", () => {
  it("grants reading and marking, deletions in transactions, and nothing else", () => {
    templateOf({ outbox: true }, (table, role) => table.grantRelay(role)).hasResourceProperties(
      "AWS::IAM::Policy",
      granting(...SENDING),
    );
  });

  it("grants the use of a customer managed key as well", () => {
    const template = templateOf({ outbox: true }, (table, role) => table.grantRelay(role), true);

    template.hasResourceProperties(
      "AWS::IAM::Policy",
      granting(...SENDING, Match.objectLike({ Action: Match.arrayWith(["kms:Decrypt"]) })),
    );
  });

  it("refuses a table without an outbox", () => {
    expect(() => templateOf({}, (table, role) => table.grantRelay(role))).toThrow(
      "outbox of Test/Table is off, so there's nothing to relay: set it to true",
    );
  });
});

describe("IdempotencyTable.grantSweeper", () => {
  it("grants what the relay does, and queries on the one index", () => {
    templateOf({ outbox: true }, (table, role) => table.grantSweeper(role)).hasResourceProperties(
      "AWS::IAM::Policy",
      granting(...SENDING, SWEEPING),
    );
  });

  it("refuses a table without an outbox", () => {
    expect(() => templateOf({ outbox: false }, (table, role) => table.grantSweeper(role))).toThrow(
      "outbox of Test/Table is off",
    );
  });
});

describe("IdempotencyTable with unknown outcomes", () => {
  const RESOLVING = {
    Action: "dynamodb:Query",
    Effect: "Allow",
    Resource: { "Fn::Join": ["", [TABLE_ARN, "/index/unsettled"]] },
  };
  const UNSETTLED = {
    IndexName: "unsettled",
    KeySchema: [
      { AttributeName: "unsettledShard", KeyType: "HASH" },
      { AttributeName: "unsettledSince", KeyType: "RANGE" },
    ],
    Projection: { ProjectionType: "KEYS_ONLY" },
  };

  it("H6: has a sparse index of keys, next to the outbox's, and no stream", () => {
    const [alone, both, none] = [
      templateOf({ unknownOutcomes: true }),
      templateOf({ unknownOutcomes: true, outbox: true }),
      templateOf({}),
    ];

    alone.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      GlobalSecondaryIndexes: [UNSETTLED],
      StreamSpecification: Match.absent(),
    });
    both.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      GlobalSecondaryIndexes: [Match.objectLike({ IndexName: "outbox" }), UNSETTLED],
    });
    none.hasResourceProperties("AWS::DynamoDB::GlobalTable", { GlobalSecondaryIndexes: Match.absent() });
  });

  it("grantResolving grants the index's queries, and no messages", () => {
    const template = templateOf({ unknownOutcomes: true, outbox: true }, (table, role) =>
      table.grantResolving(role),
    );

    template.hasResourceProperties(
      "AWS::IAM::Policy",
      granting(
        { Action: "dynamodb:GetItem", Effect: "Allow", Resource: TABLE_ARN },
        Match.objectLike({
          Action: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
          Condition: Match.objectLike({ "ForAllValues:StringNotEquals": Match.anyValue() }),
        }),
        RESOLVING,
      ),
    );
  });

  it("grantResolving refuses a table without the index", () => {
    expect(() => templateOf({}, (table, role) => table.grantResolving(role))).toThrow(
      "unknownOutcomes of Test/Table is off, so unknown outcomes can't be listed: set it to true",
    );
  });
});
