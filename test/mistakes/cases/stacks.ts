import { App, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { IdempotencyTable, OutboxRelay, UseIdempotency } from "onceonly/cdk";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const newStack = () =>
  new Stack(new App({ builtinCloudFormationValidation: false, analyticsReporting: false }), "Shop");

/** Constructs that deploy, and do not what was meant. */
export const STACK_MISTAKES: readonly Mistake[] = [
  {
    made: "applies `UseIdempotency` to something that isn't a function",
    reportedBy: "synthesis",
    text: "UseIdempotency of Shop/Records is applied to Shop/Records, which contains no Lambda function",
    make: () => {
      const stack = newStack();
      const table = new IdempotencyTable(stack, "Records");
      table.with(new UseIdempotency(table));
      return messageOf(() => Template.fromStack(stack));
    },
  },
  {
    made: "puts two relays on one table",
    reportedBy: "synthesis",
    text: "Shop/Second and Shop/First both send from Shop/Records: each would send every message",
    make: () => {
      const stack = newStack();
      const table = new IdempotencyTable(stack, "Records", { outbox: true });
      new OutboxRelay(stack, "First", { table });
      return messageOf(() => new OutboxRelay(stack, "Second", { table }));
    },
  },
  {
    made: "uses a table of the app without TTL",
    reportedBy: "synthesis",
    text: "Shop/Own, which Shop/Records uses, has no timeToLiveAttribute, so records are never deleted",
    make: () => {
      const stack = newStack();
      const partitionKey = { name: "pk", type: AttributeType.STRING };
      const { tableName } = new TableV2(stack, "Own", { partitionKey });
      IdempotencyTable.fromTableAttributes(stack, "Records", { tableName });
      return Annotations.fromStack(stack).findWarning("*", Match.anyValue())[0]?.entry.data;
    },
  },
];
