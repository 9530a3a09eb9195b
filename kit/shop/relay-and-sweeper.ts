// What sends committed messages where the explorer looks on.
import {
  DynamoDBOutbox,
  type OutboxEvent,
  type OutboxStreamEvent,
  outboxRelay,
  outboxSweeper,
} from "onceonly";
import type { TimedContext } from "../../lib/messaging/send-commit.ts";
import type { Simulator } from "../../lib/simulator/simulator.ts";

export const outbox = new DynamoDBOutbox({ tableName: "idempotency" });

/**
 * The relay, and after it the sweeper where something is left to that: a stream is done before its messages are sent
 * whose destination failed, and the explorer looks when the stream is done. What both know of destinations dies with their
 * environment.
 */
export function newRelay() {
  let isLeft = false;
  const observe = ({ event }: OutboxEvent) => {
    isLeft ||= event === "send-failed";
  };
  const [relay, sweeper] = [outboxRelay({ outbox, observe }), outboxSweeper({ outbox, observe })];
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
