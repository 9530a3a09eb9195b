// What the tests of the adapters start from: a store in memory, virtual time, and counted effects.
import type { Context } from "aws-lambda";
import type { DecisionEvent, WithIdempotency } from "onceonly";
import {
  type FakeClock,
  fakeClock,
  fakeLambdaContext,
  fakeRandom,
  MemoryStore,
  type MemoryWrite,
} from "onceonly/testing";

export interface Answer {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  readonly multiValueHeaders?: Record<string, string[]>;
  readonly cookies?: string[];
  readonly body: string;
}

export function given() {
  const clock: FakeClock = fakeClock();
  const store = new MemoryStore();
  const events: DecisionEvent[] = [];
  const options = {
    operation: "create-order",
    store,
    clock,
    random: fakeRandom(1),
    observe: (event: DecisionEvent) => {
      events.push(event);
    },
  };
  return {
    clock,
    store,
    events,
    options,
    decisions: () => events.map((event) => event.decision),
    // Middy's types ask callers of a stack for what its middlewares add to the context.
    context: (remainingMs = 30_000) =>
      fakeLambdaContext({ clock, remainingMs }) as Context & WithIdempotency<MemoryWrite>,
    states: () => [...store.records.values()].map((record) => record.state),
  };
}

/** A place in a handler where a test holds it. */
export function pausePoint() {
  let reach = () => {};
  let resume = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const pause = () => {
    reach();
    return resumed;
  };
  return { pause, reached, resume };
}

/** The parsed body of an answer. */
export function bodyOf(answer: unknown): Record<string, unknown> {
  return JSON.parse((answer as Answer).body) as Record<string, unknown>;
}
