// A table whose messages nobody sends: commits are stored, and wait for ever.
import { Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  IdempotencyTable,
  type IdempotencyTableProps,
  OutboxRelay,
  UseIdempotency,
  type UseIdempotencyOptions,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitApp } from "../app-given.ts";
import { aFunction } from "../given.ts";

function committing(
  { props = {}, options = {} }: { props?: IdempotencyTableProps; options?: UseIdempotencyOptions } = {},
  send?: (table: IdempotencyTable, stack: Stack, elsewhere: Stack) => unknown,
) {
  const app = unitApp();
  const [stack, elsewhere] = [new Stack(app, "Shop"), new Stack(app, "Senders")];
  const table = new IdempotencyTable(stack, "Records", { outbox: true, ...props });
  const settings = { operations: ["pay"], commits: true, ...options };
  aFunction(stack).with(new UseIdempotency(table, settings));
  send?.(table, stack, elsewhere);
  return Annotations.fromStack(stack).findWarning("*", Match.stringLikeRegexp("onceonly:no-relay"));
}

const relay = (table: IdempotencyTable, _: Stack, stack: Stack) =>
  new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "Queue")] });

describe("a function that commits messages", () => {
  it("is warned that no relay of the app sends them", () => {
    expect(JSON.stringify(committing())).toContain(
      "Shop/Fn commits to Shop/Records, which has an outbox but no OutboxRelay in this app",
    );
  });

  it.each<[string, Parameters<typeof committing>]>([
    ["a relay in any stack", [{}, relay]],
    ["a sender of the app's own", [{}, (table, stack) => table.grantRelay(aFunction(stack, "Own"))]],
    ["no commits", [{ options: { commits: false } }]],
    ["no outbox", [{ props: { outbox: false } }]],
    [
      "a restored table, which must have no relay for a while",
      [{ props: { restoredAt: new Date("2026-01-01") } }],
    ],
  ])("gets no warning with %s", (_, given) => {
    expect(committing(...given)).toEqual([]);
  });

  it("gets no warning about a table of another app", () => {
    const stack = new Stack(unitApp(), "Shop");
    const tableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/records";
    const table = IdempotencyTable.fromTableAttributes(stack, "Records", {
      tableArn,
      tableStreamArn: `${tableArn}/stream/1`,
    });
    aFunction(stack).with(new UseIdempotency(table, { commits: true, operations: ["pay"] }));

    expect(Annotations.fromStack(stack).findWarning("*", Match.stringLikeRegexp("no-relay"))).toEqual([]);
  });
});
