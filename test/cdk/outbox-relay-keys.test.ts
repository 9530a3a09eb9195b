// Relays of tables whose key has another name, such as those of a single-table design.
import { App, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { AttributeType, ProjectionType, StreamViewType, Table, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { DedupQueue, IdempotencyTable, OutboxRelay, type OutboxRelayProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./app-given.ts";

const PK = { name: "PK", type: AttributeType.STRING };
const SK = { name: "SK", type: AttributeType.STRING };
const sortKey = { name: "SK", value: "ONCE" };

/** A relay on an imported table that is made in the same app. */
function relayOn(
  keys: "single" | "simple",
  given: Partial<OutboxRelayProps>,
  { isFirstVersion = false, isSaid = false, index = "outbox" } = {},
): Stack {
  const stack = unitStack();
  const key = { partitionKey: PK, ...(keys === "single" && { sortKey: SK }) };
  const own = isFirstVersion
    ? new Table(stack, "Own", { ...key, stream: StreamViewType.NEW_IMAGE, timeToLiveAttribute: "ttl" })
    : new TableV2(stack, "Own", {
        ...key,
        dynamoStream: StreamViewType.NEW_IMAGE,
        timeToLiveAttribute: "ttl",
      });
  own.addGlobalSecondaryIndex({
    indexName: index,
    partitionKey: { name: "unsentShard", type: AttributeType.NUMBER },
    sortKey: { name: "unsentSince", type: AttributeType.NUMBER },
    projectionType: ProjectionType.KEYS_ONLY,
  });
  const table = IdempotencyTable.fromTableAttributes(stack, "Table", {
    tableName: own.tableName,
    tableStreamArn: own.tableStreamArn as string,
    ttlAttribute: "ttl",
    ...(isSaid && { partitionKey: "PK", ...(keys === "single" && { sortKey }) }),
  });
  const destinations = [new DedupQueue(stack, "Queue").queue];
  new OutboxRelay(stack, "Outbox", { table, destinations, ...given });
  return stack;
}

describe("an OutboxRelay of a table with other keys", () => {
  it.each([false, true])(
    "is rejected if it would look for keys that the table doesn't have (Table: %s)",
    (isFirstVersion) => {
      expect(() => Template.fromStack(relayOn("single", {}, { isFirstVersion }))).toThrow(
        "Test/Own, which Test/Outbox sends from, has the key PK and the sort key SK, but Test/Outbox looks for pk: nothing would be sent. Give it the partitionKey and sortKey that the stores use",
      );
      expect(() => Template.fromStack(relayOn("single", { partitionKey: "PK" }, { isFirstVersion }))).toThrow(
        "looks for PK:",
      );
      expect(() =>
        Template.fromStack(relayOn("simple", { partitionKey: "PK", sortKey }, { isFirstVersion })),
      ).toThrow("has the key PK, but Test/Outbox looks for PK and the sort key SK");
    },
  );

  it("passes the names to both functions", () => {
    const given = { partitionKey: "PK", sortKey, ttlAttribute: "ttl", indexName: "unsent" };
    const template = Template.fromStack(relayOn("single", given, { isSaid: true, index: "unsent" }));

    template.resourcePropertiesCountIs(
      "AWS::Lambda::Function",
      { Environment: { Variables: Match.objectLike({ OUTBOX_TABLE: JSON.stringify(given) }) } },
      2,
    );
    // The sweeper may ask for the index under that name, and for no other.
    expect(JSON.stringify(template.findResources("AWS::IAM::Policy"))).toContain("/index/unsent");
    expect(JSON.stringify(template.findResources("AWS::IAM::Policy"))).not.toContain("/index/outbox");
  });

  it.each([
    [{}, "unsent", '"outbox"'],
    [{ indexName: "unsent" }, "outbox", '"unsent"'],
  ])("is rejected if its sweeper would query another index: %j", (given, index, asked) => {
    expect(() => Template.fromStack(relayOn("single", given, { isSaid: true, index }))).toThrow(
      `the sweeper of Test/Outbox queries the index ${asked} of Test/Table, whose index of unsent messages has another name`,
    );
  });

  it("accepts the names with which the table was imported", () => {
    const names = { partitionKey: "PK", sortKey, ttlAttribute: "ttl" };

    Template.fromStack(relayOn("single", {}, { isSaid: true })).resourcePropertiesCountIs(
      "AWS::Lambda::Function",
      { Environment: { Variables: Match.objectLike({ OUTBOX_TABLE: JSON.stringify(names) }) } },
      2,
    );
  });

  it("leaves out names that are the usual ones", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table", { outbox: true });
    new OutboxRelay(stack, "Outbox", {
      table,
      destinations: [new DedupQueue(stack, "Queue").queue],
      partitionKey: undefined,
    });

    expect(JSON.stringify(Template.fromStack(stack).toJSON())).not.toContain("OUTBOX_TABLE");
  });

  it("is rejected if the usual table is given other keys", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table", { outbox: true });
    const destinations = [new DedupQueue(stack, "Queue").queue];
    new OutboxRelay(stack, "Outbox", { table, destinations, partitionKey: "PK" });

    expect(() => Template.fromStack(stack)).toThrow("has the key pk, but Test/Outbox looks for PK");
  });

  it("is trusted about a table that no app knows", () => {
    const stack = new Stack(new App(), "Test");
    const table = IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableName: "records",
      tableStreamArn: "arn:aws:dynamodb:eu-west-1:123456789012:table/records/stream/1",
    });
    const destinations = [new DedupQueue(stack, "Queue").queue];

    expect(() => new OutboxRelay(stack, "Outbox", { table, destinations, partitionKey: "PK" })).not.toThrow();
    expect(JSON.stringify(Template.fromStack(stack).toJSON())).toContain("OUTBOX_TABLE");
  });
});
