// What sends committed messages where the explorer looks on.

import { DynamoDBOutbox } from "onceonly/dynamodb";
import { type OutboxEvent, type OutboxStreamEvent, outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { TimedContext } from "../../../lib/core/lambda-context.ts";
import type { Simulator } from "../../../packages/explorer/lib/simulator/simulator.ts";

export const outbox = new DynamoDBOutbox({ tableName: "idempotency" });

/**
 * The relay, and after it the sweeper where something is left to that. A stream is done before messages are sent to a
 * destination that failed, and the explorer looks when the stream is done. The knowledge of destinations dies with the
 * environment.
 */
export function newRelay() {
  let isLeft = false;
  const observe = ({ event }: OutboxEvent) => {
    isLeft ||= event === "send-failed";
  };
  const options = { outbox, observe, destinations: "any" } as const;
  const [relay, sweeper] = [outboxRelay(options), outboxSweeper(options)];
  return async function relayOrSweep(event: OutboxStreamEvent, context: TimedContext) {
    const wasLeft = isLeft;
    isLeft = false;
    if (wasLeft) await new Promise((resolve) => setTimeout(resolve, 120_000));
    const answer = wasLeft ? await sweeper() : await relay(event, context);
    if (isLeft) throw new Error("messages are left to the sweeper");
    return wasLeft ? { batchItemFailures: [] } : answer;
  };
}

/** Committed messages are sent. */
export function relayed(aws: Simulator): void {
  const relay = aws.lambdaPerEnvironment(newRelay, { name: "relay", timeoutSeconds: 900 });
  aws.connectTable(relay, { tableName: "idempotency" });
}
