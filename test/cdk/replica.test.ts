// Functions of several regions, each with the replica of its own.
import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitApp } from "./app-given.ts";
import { aFunction } from "./given.ts";

const account = "111111111111";

function twoRegions() {
  const app = unitApp();
  const stack = new Stack(app, "Ireland", { env: { account, region: "eu-west-1" } });
  const abroad = new Stack(app, "Frankfurt", { env: { account, region: "eu-central-1" } });
  const table = new IdempotencyTable(stack, "Records", {
    tableName: "records",
    replicas: [{ region: "eu-central-1" }],
    keysPinnedToRegion: true,
    unknownOutcomes: true,
  });
  return { stack, abroad, table };
}

describe("replica of an IdempotencyTable", () => {
  it("connects a function of its region, which the table itself rejects", () => {
    const { abroad, table } = twoRegions();
    const replica = table.replica("eu-central-1");
    const fn = aFunction(abroad);
    expect(() => fn.with(new UseIdempotency(table))).toThrow("is a table in eu-west-1");

    const other = aFunction(abroad, "Other");
    other.with(new UseIdempotency(replica, { operations: ["pay"] }));

    expect(replica.env.region).toBe("eu-central-1");
    expect([replica.hasOutbox, replica.listsUnknownOutcomes]).toEqual([false, true]);
    const template = JSON.stringify(Template.fromStack(abroad).toJSON());
    expect(template).toContain(":dynamodb:eu-central-1:111111111111:table/records");
    expect(template).toContain('"IDEMPOTENCY_TABLE":"records"');
  });

  it("is refused to a function of another region", () => {
    const { stack, table } = twoRegions();

    expect(() => aFunction(stack).with(new UseIdempotency(table.replica("eu-central-1")))).toThrow(
      "is a table in eu-central-1",
    );
  });

  it("is the table itself in its region, one construct for each other, and none if there is none", () => {
    const { table } = twoRegions();

    expect(table.replica("eu-west-1")).toBe(table);
    expect(table.replica("eu-central-1")).toBe(table.replica("eu-central-1"));
    expect(() => table.replica("us-east-1")).toThrow("us-east-1");
  });
});
