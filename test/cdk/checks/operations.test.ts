// Operations that a relay or a monitoring names, and that no function of the app runs.
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyMonitoring, IdempotencyTable, OutboxRelay, UseIdempotency } from "onceonly/cdk";
import { expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { aFunction } from "../given.ts";

it("37.2: names the operation that a misspelt one probably meant", () => {
  const stack = unitStack();
  const table = new IdempotencyTable(stack, "Table", { outbox: true });
  aFunction(stack).with(new UseIdempotency(table, { operations: ["charge-payment"], commits: true }));
  const destinations = { "charge-paymnet": [new Queue(stack, "Queue")] };
  new OutboxRelay(stack, "Outbox", { table, destinations });
  new IdempotencyMonitoring(stack, "Monitoring", { table, operations: ["refund"] });

  const warnings = (text: string) =>
    Annotations.fromStack(stack).findWarning("*", Match.stringLikeRegexp(text));
  expect(warnings("\\(did you mean charge-payment\\? known: charge-payment\\)")).toHaveLength(1);
  expect(warnings("watches refund, but no function .* \\(known: charge-payment\\)")).toHaveLength(1);
});
