// Middy stacks in durable functions, with AWS's SDK.
import type { DurableContext } from "@aws/durable-execution-sdk-js";
import type { WithIdempotency } from "onceonly";
import { durableIdempotency } from "onceonly/durable";
import { beforeEach, expect, it } from "vitest";
import {
  type FakeClock,
  fakeClock,
  fakeLambdaContext,
  MemoryStore,
  type MemoryWrite,
} from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";
import { describeOnMiddies, loadFromMiddy7 } from "../kit/middies.ts";

interface Order {
  readonly id: string;
}

type Context = DurableContext & WithIdempotency<MemoryWrite>;

let clock: FakeClock;
let store: MemoryStore;
let service: DurableService;
let effects: string[];
beforeEach(() => {
  clock = fakeClock();
  store = new MemoryStore();
  service = new DurableService(clock);
  effects = [];
});

const once = () =>
  durableIdempotency<Order, MemoryWrite>({
    ...{ operation: "fulfil", store, clock, client: service.lambda },
    key: (order) => order.id,
  });

async function fulfil(_order: unknown, given: unknown) {
  const context = given as Context;
  await context.step("charge", async () => void effects.push(`charge ${context.idempotency.attempt}`));
  await context.wait("cool off", { hours: 1 });
  await context.step("ship", async () => void effects.push(`ship ${context.idempotency.attempt}`));
  return { shipped: true };
}

describeOnMiddies("durableIdempotency", (middy, major) => {
  const stackOf = (middlewares: readonly unknown[], handler: unknown) => {
    const stack = middy() as unknown as Record<"use" | "handler", (given: unknown) => typeof stack>;
    return stack.use(middlewares).handler(handler) as unknown as (
      event: unknown,
      context: unknown,
    ) => Promise<unknown>;
  };

  /** What Middy 7's durable mode does before its hooks. */
  const copyLambdaContext = {
    before: ({ context }: { context: unknown }) =>
      void Object.assign(context as object, (context as Context).lambdaContext, {
        durableExecutionArn: "arn",
      }),
  };

  it.each([
    ["", []],
    [", with the members of Lambda's context on the durable one", [copyLambdaContext]],
  ])(
    "H62: goes on in each invocation, and replays the result to another execution%s",
    async (_with, before) => {
      const handler = service.deploy(stackOf([...before, once()], fulfil));

      const first = await service.run(handler, service.start({ id: "o1" }));
      const second = await service.run(handler, service.start({ id: "o1" }));

      expect([first, second].map(({ status, result, invocations }) => [status, result, invocations])).toEqual(
        [
          ["SUCCEEDED", '{"shipped":true}', 2],
          ["SUCCEEDED", '{"shipped":true}', 1],
        ],
      );
      expect(effects).toEqual(["charge 1", "ship 2"]);
    },
  );

  it.skipIf(major === 6)("H62: goes on in each invocation of Middy's durable mode", async () => {
    const { executionModeDurableContext: executionMode } = await loadFromMiddy7(
      "core/executionModeDurableContext.js",
    );
    const inMode = (given: object) =>
      middy(given as never) as never as Record<"use", (given: unknown) => Stack>;
    interface Stack {
      handler(handler: unknown): Parameters<DurableService["run"]>[0];
    }
    const handler = inMode({ executionMode }).use(once()).handler(fulfil);

    const first = await service.run(handler, service.start({ id: "o1" }));
    const second = await service.run(handler, service.start({ id: "o1" }));

    expect([first, second].map(({ status, result, invocations }) => [status, result, invocations])).toEqual([
      ["SUCCEEDED", '{"shipped":true}', 2],
      ["SUCCEEDED", '{"shipped":true}', 1],
    ]);
    expect(effects).toEqual(["charge 1", "ship 2"]);
  });

  it("H63: starts nothing while another execution is suspended, and doesn't repeat one that succeeded", async () => {
    service.holdsWaits = true;
    const middleware = once();
    const handler = service.deploy(stackOf([middleware], middleware.handler(fulfil)));
    const first = await service.run(handler, service.start({ id: "o1" }));

    const second = await service.run(handler, service.start({ id: "o1" }));
    Object.assign(first, { status: "SUCCEEDED", result: '{"changed":"by a hook"}' });
    const third = await service.run(handler, service.start({ id: "o1" }));

    expect(second).toMatchObject({ status: "FAILED", error: expect.stringContaining("still in progress") });
    expect(third).toMatchObject({ status: "FAILED", error: expect.stringContaining("wasn't kept") });
    expect(effects).toEqual(["charge 1"]);
  });

  it("releases the key if the handler throws", async () => {
    const stack = stackOf([once()], async () => {
      throw new Error("no stock");
    });

    const { status, error } = await service.run(service.deploy(stack), service.start({ id: "o1" }));

    expect([status, error]).toEqual(["FAILED", "no stock"]);
    expect([...store.records.values()]).toMatchObject([{ state: "released" }]);
  });

  it("refuses Lambda's own context", async () => {
    const stack = stackOf([once()], fulfil);

    await expect(stack({ id: "o1" }, fakeLambdaContext({ clock }))).rejects.toThrow("withDurableExecution");
  });
});
