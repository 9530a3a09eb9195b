// A grant without the names of the operations reaches the records of all of them: that is a warning until it is acknowledged.
import { Annotations as AppAnnotations, type Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Group, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { IdempotencyTable, IdempotentFunction, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

const ID = "onceonly:operations-unfenced";

const warningsOf = (stack: Stack) =>
  Annotations.fromStack(stack)
    .findWarning("*", Match.stringLikeRegexp(ID))
    .map(({ id, entry }) => `${id}: ${String(entry.data)}`);

const given = () => {
  const stack = unitStack();
  return { stack, table: new IdempotencyTable(stack, "Table") };
};

describe("a grant without operations", () => {
  it("is reported on the function that gets it, by name", () => {
    const { stack, table } = given();
    aFunction(stack).with(new UseIdempotency(table));

    expect(warningsOf(stack)).toEqual([
      `/Test/Fn: Test/Fn can read and change the records of every operation in Test/Table: pass \`operations\` with the names of the operations that it runs [ack: ${ID}]`,
    ]);
  });

  it("is reported for a role, a group, and an IdempotentFunction", () => {
    const { stack, table } = given();
    table.grantIdempotency(
      new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") }),
    );
    table.grantIdempotency(new Group(stack, "Group"), { scopeTag: undefined });
    new IdempotentFunction(stack, "Fn", { entry: "functions/create-order.ts", table });

    expect(warningsOf(stack).map((text) => text.split(":")[0])).toEqual([
      "/Test/Role",
      "/Test/Group",
      "/Test/Fn",
    ]);
  });

  it("is reported for a principal that isn't a construct, on the table", () => {
    const { stack, table } = given();
    table.grantIdempotency(new ServicePrincipal("lambda.amazonaws.com"));

    expect(warningsOf(stack)).toEqual([
      expect.stringMatching(/^\/Test\/Table: a grantee can read and change/),
    ]);
  });

  it("is quiet once it is acknowledged, before or after", () => {
    const { stack, table } = given();
    const fn = aFunction(stack);
    AppAnnotations.of(fn).acknowledgeWarning(ID, "it is the only one");
    fn.with(new UseIdempotency(table));
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    table.grantIdempotency(role);
    AppAnnotations.of(role).acknowledgeWarning(ID);

    expect(warningsOf(stack)).toEqual([]);
  });
});

describe("a grant with operations", () => {
  it("is not reported", () => {
    const { stack, table } = given();
    aFunction(stack).with(new UseIdempotency(table, { operations: ["create-order"] }));

    expect(warningsOf(stack)).toEqual([]);
  });
});
