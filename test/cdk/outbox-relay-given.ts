// What tests of OutboxRelay have in common: a relay on the outbox of a table of its own.
import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import {
  DedupQueue,
  IdempotencyTable,
  type OutboxDestination,
  OutboxRelay,
  type OutboxRelayProps,
} from "onceonly/cdk";
import { unitStack } from "./app-given.ts";

type Settings = Omit<OutboxRelayProps, "table">;

export function outboxIn(stack: Stack, settings: Settings = {}): OutboxRelay {
  const table = new IdempotencyTable(stack, "Table", { outbox: true });
  return new OutboxRelay(stack, "Outbox", { table, ...settings });
}

/** It sends to a queue, unless it is given another destination. */
export function templateWith(
  settings?: Settings,
  destinationIn?: (stack: Stack) => OutboxDestination,
): Template {
  const stack = unitStack();
  const outbox = outboxIn(stack, settings);
  outbox.addDestination(destinationIn?.(stack) ?? new DedupQueue(stack, "Queue").queue);
  return Template.fromStack(stack);
}
