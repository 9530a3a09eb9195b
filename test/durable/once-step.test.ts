// Steps of a durable execution whose effects happen once, with AWS's SDK. Each wait is a new invocation and takes no time.
import type { DurableContext } from "@aws/durable-execution-sdk-js";
import { type AbandonedAttempt, PermanentError, runOnce, type WithIdempotency } from "onceonly";
import {
  type DurableStep,
  idempotentDurable,
  type OnceRetryOptions,
  type OnceStepOptions,
  onceRetry,
  onceStep,
} from "onceonly/durable";
import { beforeEach, describe, expect, it } from "vitest";
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from "../../lib/core/errors.ts";
import { type FakeClock, fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { inTier } from "../setup/tier.ts";

interface Order {
  readonly id: string;
}

let clock: FakeClock;
let store: MemoryStore;
let service: DurableService;
let effects: string[];
let requests: string[];
beforeEach(() => {
  clock = fakeClock();
  store = new MemoryStore();
  service = new DurableService(clock);
  effects = [];
  requests = [];
});

/** Counts requests, and each is a point at which the process can die. */
const counted = (of = store, at = service) =>
  intercepted(of, async (method, request) => {
    await at.reach(`before ${method}`);
    const answer = await request();
    requests.push(method);
    await at.reach(`after ${method}`);
    return answer;
  });

const options = (more: Partial<OnceStepOptions<MemoryWrite>> = {}): OnceStepOptions<MemoryWrite> => ({
  store: counted(),
  clock,
  ...more,
});

const shipment = (id: string): MemoryWrite => ({
  table: "shipments",
  key: id,
  item: (former) => ({ id, times: Number(former?.times ?? 0) + 1 }),
});

/** One execution of a handler with one order. */
const run = (
  handler: (order: Order, context: DurableContext) => Promise<unknown>,
  id = "o1",
  name?: string,
) => service.run(service.deploy(handler), service.start({ id }, name));

describe("a step", () => {
  it("gets the keys of its execution and its name, the same in each attempt", async () => {
    const seen: unknown[] = [];
    const handler = (_order: Order, context: DurableContext) =>
      onceStep(
        context,
        "charge",
        (step: DurableStep<MemoryWrite>) => {
          seen.push([
            step.name,
            step.childKey(),
            step.childKey("refund", { maxLength: 30 }),
            step.signal.aborted,
          ]);
          if (seen.length < 2) throw new Error("no answer");
          return step.attempt;
        },
        options(),
      );

    const { status, result } = await run(handler);
    await run(handler);

    expect([status, result]).toEqual(["SUCCEEDED", "2"]);
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).not.toEqual(seen[2]);
    expect(seen).toHaveLength(3);
  });

  it("makes two requests if it writes, one in the optimistic mode, and two around a provider's call", async () => {
    const commits = ({ commit }: DurableStep<MemoryWrite>) => commit("shipped", { writes: [shipment("o1")] });
    const made = async (work: (step: DurableStep<MemoryWrite>) => unknown, more = {}) => {
      requests = [];
      await run((_order, context) => onceStep<unknown, MemoryWrite>(context, "ship", work, options(more)));
      return requests;
    };

    expect(await made(commits)).toEqual(["claim", "settle"]);
    expect(await made(commits, { mode: "optimistic" })).toEqual(["insert"]);
    expect(await made(() => "charged")).toEqual(["claim", "settle"]);
    expect(store.table("shipments").get("o1")).toEqual({ id: "o1", times: 2 });
  });

  it("asks nothing of the store once its checkpoint is written", async () => {
    await run(async (_order, context) => {
      await onceStep(context, "charge", () => effects.push("charge"), options());
      await context.wait({ hours: 1 });
      return onceStep(context, "ship", () => effects.push("ship"), options());
    });

    expect(requests).toEqual(["claim", "settle", "claim", "settle"]);
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("has its own key in each branch and each item of a map", async () => {
    const { result } = await run(async (_order, context) => {
      const mapped = await context.map("items", ["a", "b"], (child, item) =>
        onceStep(child, "ship", () => effects.push(item), options()),
      );
      await onceStep(context, "ship", () => effects.push("all"), options());
      return mapped.getResults();
    });

    expect(result).toBe("[1,2]");
    expect(effects).toEqual(["a", "b", "all"]);
    expect(store.records.size).toBe(3);
  });

  it("is refused before anything is done: a name used twice, a wrong name, option, work or context", async () => {
    const errorOf = async (call: (context: DurableContext) => unknown) => {
      const { error } = await run(async (_order, context) => call(context));
      return error;
    };
    const work = () => effects.push("done");

    expect(
      await errorOf(async (context) => {
        await onceStep(context, "charge", work, options());
        return onceStep(context, "charge", work, options());
      }),
    ).toContain("step `charge` is used twice");
    expect(effects.splice(0)).toEqual(["done"]);
    expect(await errorOf((context) => onceStep(context, "", work, options()))).toContain(
      "the name of a step",
    );
    expect(await errorOf((context) => onceStep(context, "a", "b" as never, options()))).toContain(
      "a function",
    );
    expect(await errorOf((context) => onceStep(context, "a", work, {} as never))).toContain("`store`");
    expect(
      await errorOf((context) => onceStep(context, "a", work, options({ color: 1 } as never))),
    ).toContain("color");
    expect(() => onceStep({} as never, "a", work, options())).toThrow("withDurableExecution");
    expect(effects).toEqual([]);
  });

  it("passes the SDK its serialization and its retry strategy", async () => {
    const serdes = {
      serialize: async (value: unknown) => JSON.stringify({ value }),
      deserialize: async (text: string | undefined) => JSON.parse(text ?? "").value,
    };
    let attempts = 0;
    const { status } = await run(async (_order, context) => {
      await onceStep(context, "a", () => "A", options({ serdes }));
      const retryStrategy = () => ({ shouldRetry: false });
      return onceStep(
        context,
        "b",
        () => Promise.reject(new Error(`${attempts++}`)),
        options({ retryStrategy }),
      );
    });

    expect([status, attempts]).toEqual(["FAILED", 1]);
    const [execution] = [...service.executions.values()];
    const details = [...(execution?.operations.values() ?? [])].map(({ StepDetails }) => StepDetails?.Result);
    expect(details).toContain('{"value":"A"}');
  });
});

describe("a step that is interrupted", () => {
  /** Charges a provider and ships in one transaction with the mark, both once; the provider knows no keys. */
  const scenario = async (kills: readonly number[]) => {
    const world = { store: new MemoryStore(), clock: fakeClock() };
    const lambda = new DurableService(world.clock, kills);
    const charges: string[] = [];
    const verify = ({ childKey }: AbandonedAttempt) => {
      const charge = charges.find((key) => key === childKey("charge"));
      return charge
        ? ({ outcome: "happened", result: charge } as const)
        : ({ outcome: "did-not-happen" } as const);
    };
    const once = { store: counted(world.store, lambda), clock: world.clock };
    const handler = lambda.deploy(async (order: Order, context: DurableContext) => {
      const charge = await onceStep(
        context,
        "charge",
        async (step) => {
          await lambda.reach("before the charge");
          charges.push(step.childKey());
          await lambda.reach("after the charge");
          return step.childKey();
        },
        { ...once, whenAbandoned: verify },
      );
      await context.wait("cool off", { hours: 1 });
      await onceStep<unknown, MemoryWrite>(
        context,
        "ship",
        ({ commit }) => commit("shipped", { writes: [shipment(order.id)] }),
        once,
      );
      return charge;
    });
    const { status, result, invocations } = await lambda.run(handler, lambda.start({ id: "o1" }));
    const ships = world.store.table("shipments").get("o1")?.times;
    return {
      points: lambda.points,
      end: [status, result === `"${charges[0]}"`, charges.length, ships],
      invocations,
    };
  };

  it("H62: charges once and ships once, wherever it is killed, once and twice", async () => {
    const { points, end, invocations } = await scenario([]);
    expect([end, invocations]).toEqual([["SUCCEEDED", true, 1, 1], 2]);
    const plans: number[][] = points.map((_point, kill) => [kill]);
    // A second death is counted in the run that the first one made longer.
    for (let first = 0; first < points.length; first++)
      for (let gap = 1 + (first % 4); gap < 24; gap += inTier(4, 1)) plans.push([first, first + gap]);

    for (const plan of plans)
      expect([plan, (await scenario(plan)).end]).toEqual([plan, ["SUCCEEDED", true, 1, 1]]);

    console.log(
      `${plans.length} executions of ${points.length} points, killed once or twice: each effect once`,
    );
    expect(plans.length).toBeGreaterThan(100);
  }, 120_000);

  it("outlasts a lease of 900 seconds, at which the SDK's own retry strategy gives up", async () => {
    const killedIn = async (more: Partial<OnceStepOptions<MemoryWrite>>) => {
      const lambda = new DurableService(clock, [2]);
      const execution = lambda.start({ id: "o1" }, "o1");
      const once = options({ store: counted(new MemoryStore(), lambda), ...more });
      const handler = lambda.deploy((_order: Order, context: DurableContext) =>
        onceStep(context, "charge", () => lambda.reach("charge").then(() => effects.push("charge")), once),
      );
      return lambda.run(handler, execution);
    };
    const theirs = (_error: Error, attempts: number) =>
      attempts < 6 ? { shouldRetry: true, delay: { seconds: 10 } } : { shouldRetry: false };

    expect(await killedIn({ retryStrategy: theirs })).toMatchObject({ status: "FAILED" });
    expect(effects.splice(0)).toEqual([]);
    // Killed, refused until the lease is over, done.
    expect(await killedIn({})).toMatchObject({ status: "SUCCEEDED", invocations: 3 });
    expect(effects).toEqual(["charge"]);
  });

  it("waits for an operator if the options hold it, and isn't failed", async () => {
    const lambda = new DurableService(clock, [2]);
    const handler = lambda.deploy(async (_order: Order, context: DurableContext) =>
      onceStep(
        context,
        "charge",
        () => lambda.reach("charge").then(() => "charged"),
        options({ store: counted(store, lambda), whenAbandoned: "hold", operation: "charge-card" }),
      ),
    );
    lambda.holdsWaits = true;
    const execution = lambda.start({ id: "o1" });
    for (let day = 0; day < 20; day++) {
      await lambda.run(handler, execution);
      await lambda.endWaits(execution);
    }
    const [[recordKey, held]] = [...store.records] as never as [
      [string, { state: string; evidence: string }],
    ];
    expect([execution.status, held.state]).toEqual(["RUNNING", "held"]);

    const { resolveRecord } = await import("../../lib/core/resolve-outcome.ts");
    const verdict = { outcome: "happened", result: "found", by: "Ada", why: "seen at the provider" } as const;
    await resolveRecord({ store, clock }, recordKey, verdict);
    lambda.holdsWaits = false;

    expect(await lambda.run(handler, execution)).toMatchObject({ status: "SUCCEEDED", result: '"found"' });
    expect(recordKey).toMatch(/^charge-card#/);
  });
});

describe("a step within idempotentDurable", () => {
  /** Made when it's called: each test has its own store. */
  const once = (handler: (order: Order & { cents?: number }, context: never) => Promise<unknown>) =>
    ((order: never, context: never) => made(handler)(order, context)) as never as (
      order: Order,
      context: DurableContext,
    ) => Promise<unknown>;
  const made = (handler: unknown) =>
    idempotentDurable<unknown, Order & { cents?: number }, MemoryWrite>(handler as never, {
      ...{ operation: "fulfil", store, clock, key: ({ id }) => id, client: service.lambda },
    }) as never as (order: never, context: never) => Promise<unknown>;

  type Context = DurableContext & WithIdempotency<MemoryWrite>;
  let isInStock = false;
  beforeEach(() => {
    isInStock = false;
  });

  const fulfil = once(async (_order, context: Context) => {
    await onceStep(context, "charge", () => effects.push("charge"), options());
    await context.wait({ hours: 1 });
    await context.runInChildContext("shipping", (child) =>
      onceStep(child, "ship", () => effects.push("ship"), options()),
    );
    if (!isInStock) throw new Error("no stock");
    return "done";
  });

  it("isn't repeated by the execution that follows one that failed", async () => {
    expect(await run(fulfil)).toMatchObject({ status: "FAILED", error: "no stock" });
    isInStock = true;

    expect(await run(fulfil)).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("isn't taken for that of another payload", async () => {
    const send = (cents: number) => service.run(service.deploy(fulfil), service.start({ id: "o1", cents }));
    await send(100);
    isInStock = true;

    expect(await send(200)).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("different payload"),
    });
    expect(await send(100)).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge", "ship"]);
  });

  it("runs again once the operation is forgotten and starts over", async () => {
    isInStock = true;
    await run(fulfil);
    await clock.advance(2 * 86_400_000);

    expect(await run(fulfil)).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge", "ship", "charge", "ship"]);
  });

  it("belongs to the operation of its own branch", async () => {
    const ship = once(async ({ id }, child: Context) =>
      onceStep(child, "ship", () => effects.push(`ship ${id}`), options()),
    );
    const { status } = await run(async (_order, context) => {
      const branch = (id: string) => context.runInChildContext(id, (child) => ship({ id }, child));
      return Promise.all([branch("a"), branch("b")]);
    });

    expect(status).toBe("SUCCEEDED");
    expect(effects.sort()).toEqual(["ship a", "ship b"]);
    // A step of another execution has the same operation and name.
    await run(async (_order, context) => context.runInChildContext("c", (child) => ship({ id: "a" }, child)));
    expect(effects).toHaveLength(2);
  });
});

describe("onceRetry", () => {
  const seconds = (error: unknown, attempts = 1, otherwise: OnceRetryOptions = {}) => {
    const random = { token: () => "", fraction: () => 0.5 };
    const strategy = onceRetry({ clock, random, ...otherwise });
    const { shouldRetry, delay } = strategy(error as Error, attempts);
    return shouldRetry && delay?.seconds;
  };

  it("waits until the lease ends, at most a quarter of an hour at a time", () => {
    expect(seconds(new ExecutionInProgressError(clock.now() + 30_000))).toBe(31);
    expect(seconds(new ExecutionInProgressError(clock.now() - 30_000), 99)).toBe(1);
    expect(seconds(new ExecutionInProgressError(clock.now() + 86_400_000))).toBe(930);
    expect(seconds(new ExecutionInProgressError(Number.NaN))).toBe(1);
  });

  it("waits for a held key, an outage and a lost claim, for longer each time", () => {
    expect([1, 2, 9].map((attempts) => seconds(new OutcomeUnknownError(), attempts))).toEqual([
      61, 122, 3600,
    ]);
    const outage = new StoreUnavailableError("throttled", undefined);
    expect([1, 4, 30].map((attempts) => seconds(outage, attempts))).toEqual([1, 8, 300]);
    expect(seconds(new ClaimLostError(), 3)).toBe(4);
  });

  it("doesn't retry what can't succeed", () => {
    expect(seconds(new PermanentError("no such card"))).toBe(false);
    expect(seconds(new FingerprintMismatchError())).toBe(false);
  });

  it("leaves any other error to the other strategy, or does as the SDK does", () => {
    const refused = new StoreUnavailableError("refused", undefined);
    for (const error of [new Error("no answer"), refused]) {
      expect([1, 2, 5, 6].map((attempts) => seconds(error, attempts))).toEqual([3, 5, 40, false]);
    }
    const otherwise = () => ({ shouldRetry: true, delay: { seconds: 7 } });
    expect(seconds(new Error("no answer"), 99, { otherwise })).toBe(7);
    expect(() => onceRetry({ otherwise: 7 } as never)).toThrow("`otherwise`");
  });

  it("works on a plain step of the SDK, with runOnce in it", async () => {
    const lambda = new DurableService(clock, [1]);
    const slow = counted(store, lambda);
    const handler = lambda.deploy((order: Order, context: DurableContext) => {
      const work = () =>
        runOnce<unknown, MemoryWrite>(
          { operation: "charge", store: slow, clock, context: context.lambdaContext },
          order.id,
          null,
          () => effects.push("charge"),
        );
      return context.step("charge", work, { retryStrategy: onceRetry({ clock }) });
    });

    expect(await lambda.run(handler, lambda.start({ id: "o1" }))).toMatchObject({ status: "SUCCEEDED" });
    expect(effects).toEqual(["charge"]);
  });
});
