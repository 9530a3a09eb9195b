// The plugin of the durable SDK: child keys and decisions for the plain steps of a handler that isn't changed.
import {
  type DurableContext,
  type DurableInstrumentationPlugin,
  type DurableInstrumentationPluginProvider,
  StepSemantics,
} from "@aws/durable-execution-sdk-js";
import {
  currentChildKey,
  durableExecutionPluginProvider,
  idempotentDurable,
  oncePlugin,
  onceStep,
} from "onceonly/durable";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type FakeClock, fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";

interface Order {
  readonly id: string;
}
type Handler = (order: Order, context: DurableContext) => Promise<unknown>;

let clock: FakeClock;
let service: DurableService;
let decisions: string[];
let keys: string[];
beforeEach(() => {
  clock = fakeClock();
  service = new DurableService(clock);
  decisions = [];
  keys = [];
});

const plugin = () =>
  oncePlugin({
    clock,
    observe: ({ decision, operation, attempt, error }) =>
      void decisions.push(
        `${operation} ${attempt}: ${decision}${error ? ` ${(error as Error).message}` : ""}`,
      ),
  });
const run = (handler: Handler, at = service, id = "o1") =>
  at.run(at.deploy(handler, { plugins: [plugin()] }), at.start({ id }));
/** Sends the key as an HTTP client that all steps share would. */
const send = async (what: string) => {
  keys.push(`${what} ${currentChildKey()}`);
  return what;
};

describe("oncePlugin", () => {
  it("is a plugin of the SDK, and a provider for DURABLE_EXECUTION_PLUGINS", () => {
    const own: DurableInstrumentationPlugin = oncePlugin();
    const provider: DurableInstrumentationPluginProvider = durableExecutionPluginProvider;

    expect(provider.createPlugin()).toBeInstanceOf(provider.pluginType);
    expect(own).toBeInstanceOf(provider.pluginType);
    expect(() => oncePlugin({ color: 1 } as never)).toThrow("color");
    expect(() => oncePlugin({ observe: 1 } as never)).toThrow("`observe`");
  });

  it("is loaded from the environment, with a line on the console per decision", async () => {
    vi.stubGlobal("onceonlyDurable", { durableExecutionPluginProvider });
    const module = new URL("fixtures/plugin-module.mjs", import.meta.url);
    vi.stubEnv("DURABLE_EXECUTION_PLUGINS", module.href);
    const lines = vi.spyOn(console, "info").mockImplementation(() => {});
    try {
      const handler = service.deploy((_order: Order, context) => context.step("charge", () => send("card")));
      const { status } = await service.run(handler, service.start({ id: "o1" }));

      expect(status).toBe("SUCCEEDED");
      expect(keys).toEqual([expect.stringMatching(/^card [\w-]{43}$/)]);
      expect(lines.mock.calls.flat()).toEqual([
        expect.stringMatching(/"onceonly: executed".*"operation":"charge".*"attempt":1/),
      ]);
    } finally {
      vi.unstubAllEnvs();
      vi.unstubAllGlobals();
      lines.mockRestore();
    }
  });

  it("gives each step its own key, the same in each attempt, and reports the attempts", async () => {
    const { result } = await run(async (_order, context) => {
      await context.step("charge", async () => {
        await send("charge");
        if (keys.length < 2) throw new Error("no answer");
      });
      await context.wait({ hours: 1 });
      await context.map(["a", "b"], (child, item) => child.step("ship", () => send(item)));
      await context.step(() => send("unnamed"));
      return context.step("two systems", async () => [
        currentChildKey() === currentChildKey("two systems"),
        currentChildKey("one") === currentChildKey("two"),
        currentChildKey(undefined, { maxLength: 30 }).length,
      ]);
    });

    expect(keys[0]).toBe(keys[1]);
    expect(new Set(keys.map((key) => key.split(" ")[1])).size).toBe(4);
    expect(result).toBe("[true,false,30]");
    expect(decisions).toEqual([
      "charge 1: released no answer",
      "charge 2: executed",
      "ship 1: executed",
      "ship 1: executed",
      "unnamed 1: executed",
      "two systems 1: executed",
    ]);
  });

  it("reports a step that runs again because its invocation died, with the same key", async () => {
    const lambda = new DurableService(clock);
    const work: Handler = (_order, context) =>
      context.step("charge", async () => {
        await send("charge");
        // So that the step's start is checkpointed.
        await new Promise((resolve) => setImmediate(resolve));
        return lambda.reach("after the charge");
      });
    lambda.kills.add(2);

    expect(await run(work, lambda)).toMatchObject({ status: "SUCCEEDED", invocations: 2 });
    expect(lambda.points.indexOf("after the charge")).toBe(2);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(decisions).toEqual(["charge 1: taken-over", "charge 1: executed"]);
  });

  it("reports a step that fails for good as executed, and none that polls", async () => {
    const { status } = await run(async (_order, context) => {
      const isReady = async (state: number) => state + 1;
      const waitStrategy = (state: number) =>
        state > 2
          ? { shouldContinue: false as const }
          : { shouldContinue: true as const, delay: { seconds: 1 } };
      await context.waitForCondition("poll", isReady, { initialState: 0, waitStrategy });
      const retryStrategy = () => ({ shouldRetry: false });
      const config = { retryStrategy, semantics: StepSemantics.AtMostOncePerRetry };
      await context.step("charge", () => Promise.reject(new Error("declined")), config);
    });

    expect(status).toBe("FAILED");
    expect(decisions).toEqual(["charge 1: executed declined"]);
  });

  it("sends the same keys in the next execution for the same request, if the operation is covered", async () => {
    const store = new MemoryStore();
    let isInStock = false;
    const handler = idempotentDurable<unknown, Order & { cents?: number }>(
      (async (_order: Order, context: DurableContext) => {
        await context.step("charge", () => send("charge"));
        await context.runInChildContext("shipping", (child) => child.step("ship", () => send("ship")));
        if (!isInStock) throw new Error("no stock");
      }) as never,
      { operation: "fulfil", store, clock, key: ({ id }) => id, client: service.lambda },
    ) as never as Handler;
    const start = (cents: number) =>
      service.run(service.deploy(handler, { plugins: [plugin()] }), service.start({ id: "o1", cents }));

    expect(await start(100)).toMatchObject({ status: "FAILED" });
    expect(await start(200)).toMatchObject({ status: "FAILED" });
    isInStock = true;
    expect(await start(200)).toMatchObject({ status: "SUCCEEDED" });
    expect(keys.slice(4)).toEqual(keys.slice(2, 4));
    expect(keys.slice(0, 2)).not.toEqual(keys.slice(2, 4));
  });

  it("sends other keys for other items in the same places of the next execution", async () => {
    const store = new MemoryStore();
    const lists = [["a", "b"], ["b"]];
    const handler = idempotentDurable<unknown, Order>(
      (async (_order: Order, context: DurableContext) => {
        const items = await context.step("list", async () => lists.shift() ?? []);
        for (const item of items) await context.step(`charge ${item}`, () => send(item));
        if (items.length > 1) throw new Error("no stock");
      }) as never,
      { operation: "fulfil-items", store, clock, key: ({ id }) => id, client: service.lambda },
    ) as never as Handler;

    expect(await run(handler)).toMatchObject({ status: "FAILED" });
    expect(await run(handler)).toMatchObject({ status: "SUCCEEDED" });
    expect(new Set(keys.map((key) => key.split(" ")[1])).size).toBe(3);
  });

  it("leaves the reports of onceStep to its own observer, and its key is that of the step", async () => {
    const own: string[] = [];
    const options = {
      store: new MemoryStore(),
      clock,
      observe: ({ decision }: { decision: string }) => void own.push(decision),
    };
    const isSame = (context: DurableContext) =>
      onceStep<unknown, MemoryWrite>(
        context,
        "charge",
        (step) => step.childKey() === currentChildKey(),
        options,
      );

    expect(await run((_order, context) => isSame(context))).toMatchObject({ result: "true" });
    expect(
      await service.run(
        service.deploy((_o: Order, c) => isSame(c)),
        service.start({}),
      ),
    ).toMatchObject({
      result: "true",
    });
    expect([own, decisions]).toEqual([["executed", "executed"], []]);
  });
});

describe("currentChildKey", () => {
  it("finds the step of another copy's plugin", async () => {
    vi.resetModules();
    const other = await import("onceonly/durable");
    expect(other.currentChildKey).not.toBe(currentChildKey);

    expect(
      await run((_order, context) => context.step("charge", async () => other.currentChildKey().length)),
    ).toMatchObject({
      result: "43",
    });
  });

  it("throws outside of a step, and in a step of a function without the plugin", async () => {
    expect(() => currentChildKey()).toThrow("outside of a step");
    const retryStrategy = () => ({ shouldRetry: false });
    const handler = service.deploy((_order: Order, context) =>
      context.step("charge", () => send("charge"), { retryStrategy }),
    );

    expect(await service.run(handler, service.start({}))).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("oncePlugin()"),
    });
  });
});
