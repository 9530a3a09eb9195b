// Handlers in durable executions of Lambda, with AWS's SDK and its own test runner.
import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { LocalDurableTestRunner } from "@aws/durable-execution-sdk-js-testing";
import middy6 from "@middy/core";
import {
  httpIdempotency,
  httpIdempotent,
  idempotency,
  idempotent,
  idempotentBatch,
  type LambdaContext,
  runOnce,
} from "onceonly";
import { idempotentDurable } from "onceonly/durable";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fakeClock, fakeLambdaContext, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

interface Order {
  readonly id: string;
}

let store: MemoryStore;
let effects: string[];
let decisions: string[];
beforeEach(() => {
  decisions = [];
  store = new MemoryStore();
  effects = [];
});
// Waits are real: with `skipTime` the runner sometimes takes a whole wait within one invocation.
beforeAll(() => LocalDurableTestRunner.setupTestEnvironment({ skipTime: false }));
afterAll(() => LocalDurableTestRunner.teardownTestEnvironment());

const keyed = () => ({
  operation: "fulfil",
  store,
  leaseSeconds: 300,
  key: (event: unknown) => (event as Order).id,
  observe: ({ decision }: { readonly decision: string }) => void decisions.push(decision),
});

/** Charges, waits, ships. */
async function fulfil(_order: unknown, context: unknown) {
  const durable = context as DurableContext;
  await durable.step("charge", async () => void effects.push("charge"));
  await durable.wait("cool off", { seconds: 1 });
  await durable.step("ship", async () => void effects.push("ship"));
  return { shipped: true };
}

it("R4: names the SDK to install for a context that isn't a durable one", () => {
  const handler = idempotentDurable(async () => "done", { operation: "fulfil", store, key: () => "k" });

  return expect(handler({}, fakeLambdaContext() as never)).rejects.toThrow(
    "must be the DurableContext of @aws/durable-execution-sdk-js: install version 2 or later",
  );
});

async function ran(handlerFunction: ReturnType<typeof withDurableExecution>) {
  const runner = new LocalDurableTestRunner({ handlerFunction });
  const execution = await runner.run({ payload: { id: "o1" } });
  const isDone = execution.getStatus() === "SUCCEEDED";
  return {
    status: execution.getStatus(),
    ...(isDone ? { result: execution.getResult() } : { error: execution.getError()?.errorMessage }),
    invocations: execution.getInvocations().length,
  };
}

const REFUSED = expect.stringMatching(
  /can't run once as a whole in a durable execution.*`idempotentDurable`.*docs\/guides\/durable\.md/,
);
const durableEvent = {
  DurableExecutionArn: "arn:aws:lambda:eu-central-1:111122223333:function:fulfil:1/durable-execution/a/b",
  CheckpointToken: "token",
  InitialExecutionState: { Operations: [], NextMarker: "" },
};
type Any = Parameters<typeof withDurableExecution>[0];

describe("A2: a handler as a whole in a durable execution", () => {
  it("works without onceonly", async () => {
    expect(await ran(withDurableExecution(fulfil))).toMatchObject({
      status: "SUCCEEDED",
      result: { shipped: true },
    });
    expect(effects).toEqual(["charge", "ship"]);
  });

  const http = () => ({ ...keyed(), scope: () => "acme" });
  const inside: readonly [string, () => unknown][] = [
    ["idempotent", () => idempotent(fulfil, keyed())],
    ["httpIdempotent", () => httpIdempotent(fulfil, http())],
    ["idempotentBatch", () => idempotentBatch(fulfil, keyed())],
    ["idempotency in a Middy stack", () => middy6(fulfil).use(idempotency(keyed()) as never)],
    ["httpIdempotency in a Middy stack", () => middy6(fulfil).use(httpIdempotency(http()) as never)],
  ];

  it.each(inside)("is refused before any effect within %s", async (_name, make) => {
    expect(await ran(withDurableExecution(make() as Any))).toEqual({
      status: "FAILED",
      error: REFUSED,
      invocations: 1,
    });
    expect(effects).toEqual([]);
    expect([...store.records.keys()]).toEqual([]);
  });

  it.each(inside)("is refused by its event, around which %s stands", async (_name, make) => {
    const handler = make() as (event: unknown, context: LambdaContext) => Promise<unknown>;

    await expect(handler(durableEvent, fakeLambdaContext({ clock: fakeClock() }))).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: REFUSED,
    });
    expect(effects).toEqual([]);
    expect([...store.records.keys()]).toEqual([]);
  });

  it("is refused by runOnce around it", async () => {
    const durable = withDurableExecution(fulfil) as (event: unknown, context: unknown) => Promise<unknown>;
    const { key, ...options } = keyed();

    await expect(
      runOnce<unknown, MemoryWrite>(options, "o1", durableEvent, () =>
        durable(durableEvent, fakeLambdaContext({ clock: fakeClock() })),
      ),
    ).rejects.toMatchObject({ code: "INVALID_OPTION", message: REFUSED });
    expect([...store.records.keys()]).toEqual([]);
  });

  it.each([
    ["without a brand, as earlier SDKs made it", { step() {}, runInChildContext() {} }],
    [
      "that names its execution",
      { executionContext: { durableExecutionArn: "arn" }, ...fakeLambdaContext({ clock: fakeClock() }) },
    ],
  ])("is known by a context %s", async (_what, context) => {
    await expect(idempotent(fulfil, keyed())({ id: "o1" }, context as never)).rejects.toMatchObject({
      message: REFUSED,
    });
  });

  it("isn't taken for one because of an order that has one of the fields, or a context with one function", async () => {
    const handler = idempotent(async () => "done", keyed());
    const event = { id: "o1", DurableExecutionArn: durableEvent.DurableExecutionArn };

    expect(
      await handler(event, Object.assign(fakeLambdaContext({ clock: fakeClock() }), { step() {} })),
    ).toBe("done");
  });
});

describe("A2: an SDK result of PENDING", () => {
  it("is never recorded, neither returned nor committed, and never replayed", async () => {
    const { key, ...options } = keyed();
    const pending = () => runOnce<object, MemoryWrite>(options, "o1", null, () => ({ Status: "PENDING" }));

    await expect(pending()).rejects.toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
    await expect(pending()).rejects.toThrow("docs/guides/durable.md");
    await expect(
      runOnce<object, MemoryWrite>(options, "o2", null, ({ commit }) => commit({ Status: "PENDING" })),
    ).rejects.toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
    expect(decisions).not.toContain("completed");
  });

  it("is answered and not recorded where `shouldStore` says that it isn't final", async () => {
    const { key, ...options } = keyed();
    const shouldStore = (result: unknown) => (result as { Status?: string }).Status !== "PENDING";
    const answers = ["PENDING", "SUCCEEDED"];
    const next = () =>
      runOnce<object, MemoryWrite>({ ...options, shouldStore }, "o1", null, () => ({
        Status: answers.shift(),
      }));

    expect([await next(), await next(), await next()]).toEqual([
      { Status: "PENDING" },
      { Status: "SUCCEEDED" },
      { Status: "SUCCEEDED" },
    ]);
  });

  it("may be a part of a result, and the result of a step", async () => {
    const { key, ...options } = keyed();
    const job = { Status: "PENDING", id: "j1" };

    expect(
      await runOnce<object, MemoryWrite>(options, "o1", null, async ({ step }) => {
        await step("start", () => ({ Status: "PENDING" }));
        return job;
      }),
    ).toEqual(job);
  });
});

describe("A2: runOnce in each step of a durable execution", () => {
  const steps = (id: string) => async (_order: unknown, context: unknown) => {
    const durable = context as DurableContext;
    const options = { store, context: durable.lambdaContext, leaseSeconds: 60 };
    const once = (operation: string) =>
      durable.step(operation, () =>
        runOnce<string, MemoryWrite>({ ...options, operation }, id, null, () => {
          effects.push(operation);
          return operation;
        }),
      );
    await once("charge");
    await durable.wait("cool off", { seconds: 1 });
    return once("ship");
  };

  it("has each effect once, across a suspension and in a second execution for the same order", async () => {
    const handler = withDurableExecution(steps("o1") as Any);

    expect([await ran(handler), await ran(handler)]).toEqual([
      { status: "SUCCEEDED", result: "ship", invocations: 2 },
      { status: "SUCCEEDED", result: "ship", invocations: 2 },
    ]);
    expect(effects).toEqual(["charge", "ship"]);
  });
});
