// Each way to make a durable function exactly once, with AWS's SDK and its test runner: real waits of a second, and two deliveries.
// The ways that are refused are in durable.test.ts.
import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { LocalDurableTestRunner } from "@aws/durable-execution-sdk-js-testing";
import middy6 from "@middy/core";
import { runOnce, type WithIdempotency } from "onceonly";
import { durableIdempotency, idempotentDurable, onceRetry, onceStep } from "onceonly/durable";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

interface Order {
  readonly id: string;
}

type Handler = (order: Order, context: DurableContext) => Promise<unknown>;
type Step = (context: DurableContext, name: string, order: Order) => Promise<unknown>;

let store: MemoryStore;
let effects: string[];
beforeEach(() => {
  store = new MemoryStore();
  effects = [];
});
// Waits are real: with `skipTime` the runner sometimes takes a whole wait within one invocation.
beforeAll(() => LocalDurableTestRunner.setupTestEnvironment({ skipTime: false }));
afterAll(() => LocalDurableTestRunner.teardownTestEnvironment());

const effect = (name: string) => async () => {
  effects.push(name);
  return name;
};
const plain: Step = (context, name) => context.step(name, effect(name));
const fulfil =
  (step: Step) =>
  async (order: Order, context: DurableContext): Promise<unknown> => {
    await step(context, "charge", order);
    await context.wait("cool off", { seconds: 1 });
    return step(context, "ship", order);
  };
const runOnceIn: Step = (context, operation, { id }) =>
  context.step(
    operation,
    () =>
      runOnce<unknown, MemoryWrite>(
        { operation, store, context: context.lambdaContext },
        id,
        null,
        effect(operation),
      ),
    { retryStrategy: onceRetry() },
  );
const onceStepIn: Step = (context, name) =>
  onceStep<unknown, MemoryWrite>(context, name, effect(name), { store });
const options = () => ({ operation: "fulfil", store, key: ({ id }: Order) => id });

async function ran(handler: Handler, id = "o1") {
  const execution = await new LocalDurableTestRunner({ handlerFunction: withDurableExecution(handler) }).run({
    payload: { id },
  });
  return [execution.getStatus(), execution.getInvocations().length] as const;
}

const ways: readonly (readonly [name: string, make: () => Handler, whileWaiting: "SUCCEEDED" | "FAILED"])[] =
  [
    [
      "idempotentDurable",
      () => idempotentDurable(fulfil(plain) as never, options()) as never as Handler,
      "FAILED",
    ],
    [
      "idempotentDurable with onceStep in each step",
      () => idempotentDurable(fulfil(onceStepIn) as never, options()) as never as Handler,
      "FAILED",
    ],
    [
      "durableIdempotency in a Middy stack",
      () => middy6(fulfil(plain) as never).use(durableIdempotency(options()) as never) as never,
      "FAILED",
    ],
    ["runOnce in each step", () => fulfil(runOnceIn), "SUCCEEDED"],
  ];

describe.each(ways)("%s", (_name, make, whileWaiting) => {
  it("H62: charges once and ships once, over both invocations, and in a second execution", async () => {
    const handler = make();

    expect(await ran(handler)).toEqual(["SUCCEEDED", 2]);
    expect((await ran(handler))[0]).toBe("SUCCEEDED");
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("H63: charges once and ships once if a second execution starts while the first one waits", async () => {
    const handler = make();
    const first = ran(handler);
    while (effects.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));

    const second = await ran(handler);

    expect([await first, second[0]]).toEqual([["SUCCEEDED", 2], whileWaiting]);
    expect(effects).toEqual(["charge", "ship"]);
  });
});

describe("onceStep in each step, without an operation around it", () => {
  it("charges once and ships once in each execution: two executions are two orders to it", async () => {
    expect([await ran(fulfil(onceStepIn)), await ran(fulfil(onceStepIn))]).toEqual([
      ["SUCCEEDED", 2],
      ["SUCCEEDED", 2],
    ]);
    expect(effects).toEqual(["charge", "ship", "charge", "ship"]);
  });
});

describe("idempotentDurable, as a user writes it", () => {
  it("infers the event from its handler, and gives it the whole durable context", async () => {
    const handler = withDurableExecution(
      idempotentDurable(
        async (order: Order, context: DurableContext & WithIdempotency<MemoryWrite>) => {
          const charge = await context.step("charge", async () => context.idempotency.childKey("charge"));
          return { charge, order: order.id };
        },
        { operation: "fulfil", store, key: (order) => order.id },
      ),
    );
    const execution = await new LocalDurableTestRunner({ handlerFunction: handler }).run({
      payload: { id: "o1" },
    });

    expect(execution.getResult()).toEqual({ charge: expect.stringMatching(/^[\w-]{43}$/), order: "o1" });
  });
});
