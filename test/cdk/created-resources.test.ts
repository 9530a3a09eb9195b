// docs/reference/constructs.md says of each construct which resources it creates: by default these and no others.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  Reconciler,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

const document = readFileSync(join(root, "docs/reference/constructs.md"), "utf8");

const entry = join(root, "functions/get-order.ts");
const tableIn = (stack: Stack) => new IdempotencyTable(stack, "Given", { outbox: true });

const made: readonly (readonly [name: string, make: (stack: Stack) => unknown])[] = [
  ["IdempotencyTable", (stack) => new IdempotencyTable(stack, "Made")],
  ["DedupQueue", (stack) => new DedupQueue(stack, "Made")],
  [
    "OutboxRelay",
    (stack) => {
      const destinations = [Queue.fromQueueArn(stack, "Given", "arn:aws:sqs:eu-west-1:111111111111:given")];
      const table = IdempotencyTable.fromTableAttributes(stack, "Imported", {
        tableArn: "arn:aws:dynamodb:eu-west-1:111111111111:table/given",
        tableStreamArn: "arn:aws:dynamodb:eu-west-1:111111111111:table/given/stream/1",
      });
      return new OutboxRelay(stack, "Made", { table, destinations });
    },
  ],
  [
    "Reconciler",
    (stack) => {
      const table = new IdempotencyTable(stack, "Given", { unknownOutcomes: true });
      return new Reconciler(stack, "Made", { table, handler: aFunction(stack, "GivenFn") });
    },
  ],
  ["IdempotencyMonitoring", (stack) => new IdempotencyMonitoring(stack, "Made", { table: tableIn(stack) })],
  ["IdempotentFunction", (stack) => new IdempotentFunction(stack, "Made", { entry, table: tableIn(stack) })],
];

describe("docs/reference/constructs.md", () => {
  it.each(made)("says what %s creates", (name, make) => {
    const [, listed = ""] =
      new RegExp(`^\\| \`${name}\` \\| ([^|]*\`AWS::[^|]*) \\|$`, "m").exec(document) ?? [];
    const stack = unitStack();
    make(stack);

    const resources = Object.entries<{ readonly Type: string }>(Template.fromStack(stack).toJSON().Resources);
    const counts = new Map<string, number>();
    for (const [logicalId, { Type }] of resources) {
      if (!logicalId.startsWith("Given")) counts.set(Type, (counts.get(Type) ?? 0) + 1);
    }

    expect(listed).toBe(
      [...counts]
        .sort()
        .map(([type, count]) => `${count} \`${type}\``)
        .join(", "),
    );
  });
});
