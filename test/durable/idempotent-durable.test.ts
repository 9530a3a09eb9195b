// A handler that runs once as a whole in a durable execution, with AWS's SDK. Some tests wait for real, in its own test runner; in
// the others each wait is a new invocation and takes no time.
import type { DurableContext } from "@aws/durable-execution-sdk-js";
import { withDurableExecution } from "@aws/durable-execution-sdk-js";
import { LocalDurableTestRunner } from "@aws/durable-execution-sdk-js-testing";
import {
  type AbandonedAttempt,
  idempotent,
  type LambdaContext,
  PermanentError,
  runOnce,
  type WithIdempotency,
} from "onceonly";
import { type DurableIdempotencyOptions, idempotentDurable } from "onceonly/durable";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { executionOfToken } from "../../lib/durable/ended-execution.ts";
import {
  type FakeClock,
  fakeClock,
  fakeLambdaContext,
  MemoryStore,
  type MemoryWrite,
} from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";
import { failing, intercepted } from "../kit/faults/faulty-store.ts";

interface Order {
  readonly id: string;
  readonly cents?: number;
}

type Context = DurableContext & WithIdempotency<MemoryWrite>;

let clock: FakeClock;
let store: MemoryStore;
let service: DurableService;
/** Pauses between tries take no time of the test. */
const leaping = (): FakeClock => ({
  ...clock,
  now: () => clock.now(),
  sleep: (ms, signal) => (signal ? clock.sleep(ms, signal) : clock.advance(ms)),
});
let effects: string[];
let decisions: string[];
beforeEach(() => {
  clock = fakeClock();
  store = new MemoryStore();
  service = new DurableService(clock);
  effects = [];
  decisions = [];
});

const options = (more: Partial<DurableIdempotencyOptions<Order, MemoryWrite>> = {}) => ({
  operation: "fulfil",
  store,
  clock,
  key: (order: Order) => order.id,
  observe: ({ decision }: { readonly decision: string }) => void decisions.push(decision),
  ...more,
});

/** Charges, waits for an hour, ships. */
async function fulfil(_order: Order, context: Context) {
  await context.step("charge", async () => void effects.push("charge"));
  await context.wait("cool off", { hours: 1 });
  await context.step("ship", async () => void effects.push("ship"));
  return { shipped: true };
}

const deployed = (more?: Partial<DurableIdempotencyOptions<Order, MemoryWrite>>, handler = fulfil) =>
  service.deploy(idempotentDurable(handler, options(more)));

const record = () => [...store.records.values()][0];

describe("real waits, in the test runner of the SDK", () => {
  beforeAll(() => LocalDurableTestRunner.setupTestEnvironment({ skipTime: false }));
  afterAll(() => LocalDurableTestRunner.teardownTestEnvironment());

  it("H62: a replay goes on under its own claim, and another execution gets the result", async () => {
    const handlerFunction = withDurableExecution(
      idempotentDurable(
        async (_order: Order, context: Context) => {
          await context.step("charge", async () => void effects.push("charge"));
          await context.wait("cool off", { seconds: 1 });
          await context.step("ship", async () => void effects.push("ship"));
          return { shipped: true };
        },
        { operation: "fulfil", store, key: (order: Order) => order.id },
      ),
    );
    const ran = async () => {
      const execution = await new LocalDurableTestRunner({ handlerFunction }).run({ payload: { id: "o1" } });
      return [execution.getStatus(), execution.getResult(), execution.getInvocations().length];
    };

    expect([await ran(), await ran()]).toEqual([
      ["SUCCEEDED", { shipped: true }, 2],
      ["SUCCEEDED", { shipped: true }, 1],
    ]);
    expect(effects).toEqual(["charge", "ship"]);
  });
});

describe("one execution", () => {
  it("H62: makes one request more than its two for each invocation after the first, and has one claim at a time", async () => {
    const requests: string[] = [];
    const counted = intercepted(store, (method, request) => {
      requests.push(method);
      return request();
    });

    const execution = await service.run(deployed({ store: counted }), service.start({ id: "o1" }));

    expect(execution).toMatchObject({ status: "SUCCEEDED", result: '{"shipped":true}', invocations: 2 });
    expect(effects).toEqual(["charge", "ship"]);
    // The claim; the claim that is refused and the one over it; the end.
    expect(requests).toEqual(["claim", "claim", "claim", "settle"]);
    expect(record()).toMatchObject({ state: "completed", attempt: 2 });
    expect(executionOfToken(record()?.token ?? "")).toBe(execution.arn);
    expect(decisions).toEqual(["executed"]);
  });

  it("records nothing while it is suspended", async () => {
    service.holdsWaits = true;

    const execution = await service.run(deployed(), service.start({ id: "o1" }));

    expect(execution).toMatchObject({ status: "RUNNING", invocations: 1 });
    expect(record()).toMatchObject({ state: "in-progress" });
    expect(record()?.result).toBeUndefined();
    expect(decisions).toEqual([]);
  });

  it("gets `idempotency` on the SDK's own context", async () => {
    const seen: unknown[] = [];
    const handler = deployed({}, async (_order, context) => {
      const keys = [context.idempotency.key, context.idempotency.childKey("charge")];
      seen.push(
        context.constructor.name,
        ...keys,
        context.idempotency.attempt,
        context.idempotency.signal.aborted,
      );
      await context.wait({ seconds: 60 });
      return { shipped: true };
    });

    await service.run(handler, service.start({ id: "o1" }));

    const childKey = expect.stringMatching(/^[\w-]{43}$/);
    expect(seen).toEqual([
      ...["DurableContextImpl", "o1", childKey, 1, false],
      ...["DurableContextImpl", "o1", seen[2], 2, false],
    ]);
  });

  it("commits its result with its writes, and doesn't run again", async () => {
    const handler = deployed({}, async (order, context) => {
      await context.wait({ seconds: 60 });
      const writes = [{ table: "orders", key: order.id, item: { id: order.id } }] as never;
      return context.idempotency.commit({ shipped: true }, { writes });
    });

    const first = await service.run(handler, service.start({ id: "o1" }));
    const second = await service.run(handler, service.start({ id: "o1" }));

    expect([first, second].map(({ status, result }) => [status, result])).toEqual([
      ["SUCCEEDED", '{"shipped":true}'],
      ["SUCCEEDED", '{"shipped":true}'],
    ]);
    expect(decisions).toEqual(["executed", "replayed"]);
  });

  it("records a final error, and releases the key after any other one", async () => {
    const failures = [new Error("no stock"), new PermanentError("no such order")];
    const handler = deployed({}, async () => {
      throw failures.shift();
    });

    const ends = [];
    for (let delivery = 0; delivery < 3; delivery++) {
      const { status, error } = await service.run(handler, service.start({ id: "o1" }));
      ends.push([status, error]);
    }

    expect(ends).toEqual([
      ["FAILED", "no stock"],
      ["FAILED", "no such order"],
      ["FAILED", "no such order"],
    ]);
    expect(decisions).toEqual(["released", "executed", "replayed"]);
  });
});

describe("a second delivery while the first execution is suspended", () => {
  const suspended = async (more = {}) => {
    service.holdsWaits = true;
    const handler = deployed({ client: service.lambda, ...more });
    const first = await service.run(handler, service.start({ id: "o1" }));
    service.holdsWaits = false;
    return { handler, first };
  };

  it("H63: starts nothing for as long as the execution can live, for any later delivery", async () => {
    const { handler, first } = await suspended();
    await clock.advance(86_400_000 * 300);

    const second = await service.run(handler, service.start({ id: "o1" }));
    const outside = runOnce(
      { operation: "fulfil", store, clock, leaseSeconds: 60 },
      "o1",
      { id: "o1" },
      () => "ran",
    );

    expect(second).toMatchObject({ status: "FAILED", error: expect.stringContaining("still in progress") });
    await expect(outside).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
    expect(effects).toEqual(["charge"]);

    await service.endWaits(first);
    expect(await service.run(handler, first)).toMatchObject({ status: "SUCCEEDED" });
    expect(await service.run(handler, service.start({ id: "o1" }))).toMatchObject({
      result: '{"shipped":true}',
    });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it.each(["FAILED", "STOPPED", "TIMED_OUT"] as const)(
    "H63: goes on once Lambda says that the first one is over (%s), and its late invocation is fenced",
    async (status) => {
      const { handler, first } = await suspended();
      first.status = status;

      const second = await service.run(handler, service.start({ id: "o1" }));

      expect(second).toMatchObject({ status: "SUCCEEDED", result: '{"shipped":true}' });
      expect(effects).toEqual(["charge", "charge", "ship"]);
      expect(decisions).toEqual(["in-progress", "taken-over", "executed"]);
      // The first one ships nothing, if it's called again after all.
      await service.invoke(handler, first);
      expect(effects).toEqual(["charge", "charge", "ship"]);
    },
  );

  it("H63: gets the result of an execution that succeeded without recording it", async () => {
    const { handler, first } = await suspended();
    Object.assign(first, { status: "SUCCEEDED", result: '{"shipped":"earlier"}' });

    const second = await service.run(handler, service.start({ id: "o1" }));

    expect(second).toMatchObject({ status: "SUCCEEDED", result: '{"shipped":"earlier"}' });
    expect(record()).toMatchObject({
      state: "completed",
      evidence: expect.stringContaining("GetDurableExecution"),
    });
    expect(effects).toEqual(["charge"]);
  });

  it.each([undefined, "not JSON"])("isn't given a result that Lambda doesn't have: %s", async (result) => {
    const { handler, first } = await suspended();
    Object.assign(first, { status: "SUCCEEDED", result });

    const second = await service.run(handler, service.start({ id: "o1" }));

    expect(second.status).toBe(result === undefined ? "SUCCEEDED" : "FAILED");
    expect(second.result).toBeUndefined();
    expect(effects).toEqual(["charge"]);
  });

  it("holds the key of a dead execution if the options say so", async () => {
    const { handler, first } = await suspended({ whenAbandoned: "hold" });
    first.status = "TIMED_OUT";

    const second = await service.run(handler, service.start({ id: "o1" }));

    expect(second).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("outcome of an earlier attempt"),
    });
    expect(record()).toMatchObject({ state: "held" });
    expect(effects).toEqual(["charge"]);
  });

  it.each([
    ["doesn't know the execution", () => Promise.reject(new Error("no such execution"))],
    ["doesn't answer", () => new Promise<never>(() => {})],
    ["answers with a status that this code doesn't know", async () => ({ Status: "PAUSED" })],
  ])("H63: starts nothing if Lambda %s", async (_what, getDurableExecution) => {
    service.holdsWaits = true;
    const handler = deployed({ client: { getDurableExecution } });
    await service.run(handler, service.start({ id: "o1" }));
    service.holdsWaits = false;

    const second = service.run(handler, service.start({ id: "o1" }));
    while (decisions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(6000);

    expect(await second).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("still in progress"),
    });
    expect(effects).toEqual(["charge"]);
  });

  it("H63: doesn't interrupt an execution that has taken the key over while Lambda was asked", async () => {
    const { first } = await suspended();
    first.status = "STOPPED";
    const slow = {
      getDurableExecution: async () => {
        const [[recordKey, seen]] = [...store.records] as never as [
          [string, NonNullable<ReturnType<typeof record>>],
        ];
        const claim = { ...seen, recordKey, token: "third", attempt: seen.attempt + 1, keepsSteps: true };
        await store.claim(claim, seen);
        return { Status: "STOPPED" };
      },
    };

    const second = await service.run(deployed({ client: slow }), service.start({ id: "o1" }));

    expect(second).toMatchObject({ status: "FAILED", error: expect.stringContaining("still in progress") });
    expect(record()).toMatchObject({ state: "in-progress", token: "third" });
  });

  it("doesn't ask about a claim that no execution holds, nor without a client", async () => {
    const { handler } = await suspended();
    const work = runOnce({ operation: "fulfil", store, clock, leaseSeconds: 60 }, "o2", { id: "o2" }, () => {
      return new Promise<never>(() => {});
    });
    void work;

    expect(await service.run(handler, service.start({ id: "o2" }))).toMatchObject({ status: "FAILED" });
    expect(service.lambda.asked).toBe(0);
    expect(await service.run(deployed(), service.start({ id: "o1" }))).toMatchObject({ status: "FAILED" });
    expect(service.lambda.asked).toBe(0);
  });

  it("asks the user's own question a minute after Lambda has said that the execution is over", async () => {
    const whenAbandoned = () => ({ outcome: "happened", result: { shipped: "found" } }) as const;
    const { handler, first } = await suspended({ whenAbandoned });
    first.status = "TIMED_OUT";

    expect(await service.run(handler, service.start({ id: "o1" }))).toMatchObject({ status: "FAILED" });
    await clock.advance(61_000);
    const third = await service.run(handler, service.start({ id: "o1" }));

    expect(third).toMatchObject({ status: "SUCCEEDED", result: '{"shipped":"found"}' });
    expect(effects).toEqual(["charge"]);
  });

  it("waits for the result of the first execution if the option says so", async () => {
    const { handler, first } = await suspended({ whenInProgress: { waitSeconds: 20 }, clock: leaping() });
    await service.endWaits(first);
    const second = service.run(handler, service.start({ id: "o1" }));
    await service.run(deployed(), first);

    expect(await second).toMatchObject({ result: '{"shipped":true}' });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("takes the key over once no execution can be alive any more", async () => {
    const { first } = await suspended({ executionTimeoutSeconds: 7200 });
    expect(await service.run(deployed(), service.start({ id: "o1" }))).toMatchObject({ status: "FAILED" });
    await clock.advance(7_206_000);

    expect(await service.run(deployed(), service.start({ id: "o1" }))).toMatchObject({ status: "SUCCEEDED" });
    expect(first.status).toBe("RUNNING");
  });
});

describe("an invocation that ends early", () => {
  it("H62: costs no effect and repeats none, wherever it is killed", async () => {
    const runAll = async (kills: readonly number[]) => {
      const world = { store: new MemoryStore(), service: new DurableService(fakeClock(), kills) };
      const { reach } = world.service;
      const at = reach.bind(world.service);
      const charges = new Set<string>();
      const slow = intercepted(world.store, async (method, request) => {
        await at(`before ${method}`);
        const answer = await request();
        await at(`after ${method}`);
        return answer;
      });
      const handler = world.service.deploy(
        idempotentDurable(
          async (order: Order, context: Context) => {
            await context.step("charge", async () => {
              charges.add(context.idempotency.childKey("charge"));
              await at("after the charge");
            });
            await context.wait("cool off", { hours: 1 });
            const writes = [{ table: "shipments", key: order.id, item: { id: order.id } }] as never;
            return context.idempotency.commit({ shipped: true }, { writes });
          },
          options({ store: slow, clock: world.service.clock }),
        ),
      );
      const first = await world.service.run(handler, world.service.start({ id: "o1" }));
      const second = await world.service.run(handler, world.service.start({ id: "o1" }));
      return { points: world.service.points, first, second, charges, items: world.store };
    };
    const { points } = await runAll([]);

    for (let kill = 0; kill < points.length; kill++) {
      const { first, second, charges } = await runAll([kill]);
      const label = `killed ${points[kill]}`;
      expect([label, first.status, second.status, first.result, second.result, charges.size]).toEqual([
        ...[label, "SUCCEEDED", "SUCCEEDED", '{"shipped":true}', '{"shipped":true}', 1],
      ]);
    }
    expect(points.length).toBeGreaterThan(12);
  });

  it("H62: asks how a step of the operation ended that was interrupted, as soon as it's called again", async () => {
    const asked: unknown[] = [];
    const handler = deployed({}, async (_order, context) => {
      await context.step("start", async () => "started");
      const verify = ({ attempt, leaseEndedAt, askedAt }: AbandonedAttempt<never>) => {
        asked.push([attempt, leaseEndedAt <= askedAt]);
        return { outcome: "happened", result: "found" } as const;
      };
      const work = async () => {
        effects.push("charge");
        await service.reach("the charge");
      };
      if (effects.length === 0) service.kills.add(service.points.length);
      await context.idempotency.step("charge", work, { atMostOnce: true, verify: verify as never });
      return { shipped: true };
    });
    const execution = await service.run(handler, service.start({ id: "o1" }));

    expect(execution).toMatchObject({ status: "SUCCEEDED", invocations: 2 });
    expect(asked).toEqual([[1, true]]);
    expect(effects).toEqual(["charge"]);
  });

  it("is called again if the store can't be reached, before the first step and after it", async () => {
    const time = leaping();
    let isDown = true;
    const down = intercepted(store, async (method, request) => {
      if (isDown && method === "claim") return failing(store, "claim", "before").claim({} as never);
      return request();
    });
    const handler = deployed({ store: down, clock: time });
    const execution = service.start({ id: "o1" });

    expect(await service.invoke(handler, execution)).toBe("error");
    isDown = false;
    expect(await service.invoke(handler, execution)).toBe("PENDING");
    await service.endWaits(execution);
    isDown = true;
    expect(await service.invoke(handler, execution)).toBe("error");
    isDown = false;

    expect(await service.run(handler, execution)).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("is called again in a child context too, which would record the error", async () => {
    let isDown = true;
    const down = intercepted(store, async (method, request) =>
      isDown && method === "claim" ? failing(store, "claim", "before").claim({} as never) : request(),
    );
    const child = idempotentDurable(fulfil, options({ store: down, clock: leaping() }));
    const handler = service.deploy((order: Order, context: DurableContext) =>
      context.runInChildContext("fulfil", (within) => child(order, within)),
    );
    const execution = service.start({ id: "o1" });

    expect(await service.invoke(handler, execution)).toBe("error");
    isDown = false;
    expect(await service.run(handler, execution)).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("is called again if its end can't be recorded: neither a result nor a release", async () => {
    const time = leaping();
    let fails = 0;
    let isDown = true;
    const down = intercepted(store, async (method, request) =>
      isDown && method === "settle" ? failing(store, "settle", "before").settle({} as never) : request(),
    );
    const handler = deployed({ store: down, clock: time }, async (_order, context) => {
      await context.step("charge", async () => void effects.push("charge"));
      if (fails++ < 2) throw new Error("no stock");
      return { shipped: true };
    });
    const execution = service.start({ id: "o1" });

    // The release is lost.
    expect(await service.invoke(handler, execution)).toBe("error");
    isDown = false;
    expect(await service.invoke(handler, execution)).toBe("FAILED");
    expect(record()).toMatchObject({ state: "released" });

    // The result is lost.
    const next = service.start({ id: "o1" });
    isDown = true;
    expect(await service.invoke(handler, next)).toBe("error");
    isDown = false;
    expect(await service.invoke(handler, next)).toBe("SUCCEEDED");
    expect(record()).toMatchObject({ state: "completed" });
    expect(effects).toEqual(["charge", "charge"]);
  });

  it("keeps its claim if no time was left to begin: what was done isn't done again", async () => {
    const handler = deployed();
    const execution = service.start({ id: "o1" });
    expect(await service.invoke(handler, execution)).toBe("PENDING");
    await service.endWaits(execution);
    const slow = intercepted(store, async (method, request) => {
      const answer = await request();
      if (method === "claim") await clock.advance(450_000);
      return answer;
    });

    expect(await service.invoke(deployed({ store: slow }), execution)).toBe("error");
    expect(record()).toMatchObject({ state: "in-progress" });
    expect(await service.run(handler, execution)).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("H62: goes on under its claim after a fence around a commit that was refused", async () => {
    let tries = 0;
    const down = intercepted(store, async (method, request) => {
      if (method === "settle" && tries++ === 0) return failing(store, "settle", "before").settle({} as never);
      return request();
    });
    const handler = deployed({ store: down, clock: leaping() }, async (order, context) => {
      const write: MemoryWrite = { table: "stock", key: order.id, item: {}, condition: () => false };
      const refused = await context.idempotency
        .commit({ shipped: true }, { writes: [write] })
        .catch((error: unknown) => Object(error).code);
      await context.step("note", async () => void effects.push(refused));
      await context.wait({ hours: 1 });
      return { shipped: false };
    });

    const execution = await service.run(handler, service.start({ id: "o1" }));

    // The commit is tried again by the replay, and refused again.
    expect(execution).toMatchObject({ status: "SUCCEEDED", result: '{"shipped":false}', invocations: 2 });
    expect(effects).toEqual(["TRANSACTION_CONDITION"]);
  });

  it("records nothing that the handler still does after it was suspended", async () => {
    service.holdsWaits = true;
    let end = (_error: Error) => {};
    const late = new Promise<never>((_resolve, reject) => {
      end = reject;
    });
    const handler = deployed({}, async (_order, context) => {
      await context.step("charge", async () => void effects.push("charge"));
      await Promise.all([context.wait({ hours: 1 }), late]);
      return { shipped: true };
    });

    await service.run(handler, service.start({ id: "o1" }));
    end(new Error("too late"));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));

    expect(record()).toMatchObject({ state: "in-progress" });
    expect(decisions).toEqual([]);
  });

  it("is fenced off by the next invocation", async () => {
    const open: (() => void)[] = [];
    const handler = deployed({}, async (_order, context) => {
      const { attempt } = context.idempotency;
      await new Promise<void>((resolve) => void open.push(resolve));
      return { shipped: attempt } as never;
    });
    const execution = service.start({ id: "o1" });
    const zombie = service.invoke(handler, execution);
    while (open.length < 1) await new Promise((resolve) => setImmediate(resolve));
    const next = service.invoke(handler, execution);
    while (open.length < 2) await new Promise((resolve) => setImmediate(resolve));

    open[0]?.();
    await zombie;
    expect(record()).toMatchObject({ state: "in-progress", attempt: 2 });
    open[1]?.();

    expect(await next).toBe("SUCCEEDED");
    expect(record()?.result).toMatchObject({ text: '{"shipped":2}' });
  });
});

describe("what is refused", () => {
  it.each([
    ["leaseSeconds", 60],
    ["mode", "optimistic"],
    ["renewLease", true],
    ["whenStoreFails", "run"],
    ["whenKeyMissing", "run"],
    ["returns", "outcome"],
    ["lookFirst", true],
    ["executionTimeoutSeconds", 0],
    ["client", {}],
    ["color", "red"],
  ])("the option `%s: %s`, by its name", (name, value) => {
    expect(() => idempotentDurable(fulfil, { ...options(), [name]: value } as never)).toThrow(`\`${name}\``);
  });

  it("a handler that isn't a function, and a store that runs the handler in a transaction", () => {
    const open = Object.assign(new MemoryStore(), { handlerOver: () => {} });

    expect(() => idempotentDurable({} as never, options() as never)).toThrow("`handler` must be a function");
    expect(() => idempotentDurable(fulfil, options({ store: open }))).toThrow("can't stay open");
  });

  it("a context that isn't a durable one", async () => {
    const handler = idempotentDurable(fulfil, options()) as (
      event: unknown,
      context: unknown,
    ) => Promise<unknown>;
    const context = fakeLambdaContext({ clock });

    const partial = { executionContext: { durableExecutionArn: "arn" } };
    for (const given of [context, undefined, { step() {}, runInChildContext() {} }, partial]) {
      await expect(handler({ id: "o1" }, given)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    }
    await expect(handler({ id: "o1" }, context)).rejects.toThrow("withDurableExecution");
  });

  it("a second operation in one durable context, before it claims anything", async () => {
    const inner = idempotentDurable(fulfil, options({ operation: "inner" }));
    const outer = service.deploy(idempotentDurable(inner as never, options()));

    const execution = await service.run(outer, service.start({ id: "o1" }));

    expect(execution).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("runInChildContext"),
    });
    expect(effects).toEqual([]);
    expect(store.records.size).toBe(1);
  });

  it("one key in two branches of an execution, and not one after the other", async () => {
    const ship = idempotentDurable(async (_order: Order, child: Context) => {
      await child.step("ship", async () => void effects.push("ship"));
      return "shipped";
    }, options());
    const both = service.deploy(async (order: Order, context: DurableContext) => {
      const branch = (name: string) =>
        context
          .runInChildContext(name, (child) => ship(order, child as Context))
          .catch((error: unknown) => (error as Error).message);
      return [await Promise.all([branch("a"), branch("b")]), await branch("c")];
    });

    const { status, result } = await service.run(both, service.start({ id: "o1" }));

    expect(status).toBe("SUCCEEDED");
    expect(JSON.parse(result ?? "")).toEqual([
      ["shipped", expect.stringContaining("another branch")],
      "shipped",
    ]);
    expect(effects).toEqual(["ship"]);
  });

  it("plain wrappers, which name this one", async () => {
    const handler = idempotent(async () => "done", { ...options(), leaseSeconds: 60 } as never);
    const durable = { executionContext: { durableExecutionArn: "arn" } };

    await expect(handler({ id: "o1" }, durable as never as LambdaContext)).rejects.toThrow(
      /idempotentDurable.*onceStep/,
    );
  });
});
