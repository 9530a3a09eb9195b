// Sagas in durable executions: all done, or all undone, wherever they are killed and however long they wait between two steps.
import type { DurableContext } from "@aws/durable-execution-sdk-js";
import { type AbandonedAttempt, type SagaStepContext, saga } from "onceonly";
import { currentChildKey, idempotentDurable, type OnceSagaOptions, onceSaga } from "onceonly/durable";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type FakeClock, fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { inTier } from "../setup/tier.ts";

interface Order {
  readonly id: string;
}
type Mode = "honest" | "declined" | "not approved" | "no answer" | "a refund fails";
type Context = SagaStepContext<Order, MemoryWrite>;

/** Systems that can be asked, and recognize no keys; a store; and Lambda, which kills the function at the given points. */
class Shop {
  readonly clock: FakeClock = fakeClock();
  readonly store = new MemoryStore();
  readonly lambda: DurableService;
  readonly mode: Mode;
  readonly done = new Map<string, number>();
  readonly undone = new Map<string, number>();
  readonly keys: string[] = [];
  readonly asked: string[] = [];

  constructor(mode: Mode, kills: readonly number[] = []) {
    this.mode = mode;
    this.lambda = new DurableService(this.clock, kills);
  }

  readonly #act = async (what: string, on: Map<string, number>) => {
    await this.lambda.reach(`before ${what}`);
    on.set(what, (on.get(what) ?? 0) + 1);
    await this.lambda.reach(`after ${what}`);
    return what;
  };
  readonly #answer = (what: string) => (_previous: AbandonedAttempt) =>
    this.done.has(what)
      ? ({ outcome: "happened", result: what } as const)
      : ({ outcome: "did-not-happen" } as const);
  /** Does nothing if there is nothing to undo, or if it's undone already. */
  readonly #undo = async (what: string) => {
    if (this.done.has(what) && !this.undone.has(what)) await this.#act(what, this.undone);
  };
  readonly #stock = (change: number): MemoryWrite => ({
    table: "stock",
    key: "book",
    item: (former) => ({ reserved: Number(former?.reserved ?? 0) + change }),
  });

  /** The same definition runs in any other handler. */
  readonly placeOrder = saga("place-order", [
    {
      name: "stock",
      run: ({ commit }: Context) => commit(1, { writes: [this.#stock(1)] }),
      compensate: ({ result, commit }) => result && commit(0, { writes: [this.#stock(-1)] }),
    },
    {
      name: "charge",
      run: async ({ childKey }) => {
        this.keys.push(childKey(), currentChildKey());
        if (this.mode === "declined") throw new Error("declined");
        const charge = await this.#act("charge", this.done);
        if (this.mode === "no answer") throw new Error("no answer");
        return charge;
      },
      verify: this.#answer("charge"),
      didNotHappen: (error) => (error as Error).message === "declined",
      compensate: async ({ attempt }) => {
        if (this.mode === "a refund fails" && this.asked.length === 0)
          throw new Error(`no refund ${attempt}`);
        await this.#undo("charge");
      },
    },
    {
      name: "ship",
      run: async ({ childKey }) => {
        this.keys.push(childKey(), currentChildKey());
        return this.#act("ship", this.done);
      },
      verify: this.#answer("ship"),
      compensate: () => this.#undo("ship"),
    },
  ]);

  readonly options = (
    more: Partial<OnceSagaOptions<MemoryWrite, DurableContext, Order, "charge" | "ship" | "stock">> = {},
  ): OnceSagaOptions<MemoryWrite, DurableContext, Order, "charge" | "ship" | "stock"> => ({
    store: intercepted(this.store, async (method, request) => {
      await this.lambda.reach(`before ${method}`);
      const answer = await request();
      await this.lambda.reach(`after ${method}`);
      return answer;
    }),
    clock: this.clock,
    before: {
      charge: (context) => context.wait("cool off", { hours: 1 }),
      ship: async (context, { id }) => {
        await context.waitForCallback(`approve ${id}`, async () => {});
        if (this.mode === "not approved" || this.mode === "a refund fails") throw new Error("not approved");
      },
    },
    whenHeld: (context, error) =>
      context.waitForCallback("refund by hand", async () => void this.asked.push(error.message)),
    ...more,
  });

  async run(
    handler: (order: Order, context: DurableContext) => Promise<unknown> = this.handler(),
    id = "o1",
  ) {
    const deployed = this.lambda.deploy(handler);
    const { status, error, result, invocations } = await this.lambda.run(deployed, this.lambda.start({ id }));
    return { status, error, result: result && JSON.parse(result), invocations };
  }

  handler(more = {}) {
    return (order: Order, context: DurableContext) =>
      onceSaga(context, this.placeOrder, order, this.options(more));
  }

  /** What is there in the end: of each effect, how often it was done and is not undone. */
  left() {
    const net = (what: string) => (this.done.get(what) ?? 0) - (this.undone.get(what) ?? 0);
    const stock = Number(this.store.table("stock").get("book")?.reserved ?? 0);
    return [stock, net("charge"), net("ship")];
  }
}

let shop: Shop;
beforeEach(() => {
  shop = new Shop("honest");
});
const ALL = [1, 1, 1];
const NONE = [0, 0, 0];

describe("onceSaga", () => {
  it("does its steps in order, with a wait and a callback in between, and returns their results", async () => {
    const { status, result, invocations } = await shop.run();

    expect([status, result, invocations]).toEqual([
      "SUCCEEDED",
      { stock: 1, charge: "charge", ship: "ship" },
      3,
    ]);
    expect(shop.left()).toEqual(ALL);
    expect(shop.keys[0]).toBe(shop.keys[1]);
    expect(new Set(shop.keys).size).toBe(2);
    expect(
      shop.lambda.points.filter((point) => /^before (claim|settle|writeStep|renew)/.test(point)).length,
    ).toBe(13);
  });

  it.each([
    ["declined", "charge"],
    ["not approved", "ship"],
    ["no answer", "charge"],
  ] as const)("turns back if it is %s: the steps before are undone", async (mode, step) => {
    shop = new Shop(mode);
    const { status, error } = await shop.run();

    expect([status, error]).toEqual(["FAILED", expect.stringContaining(`failed at step ${step}`)]);
    expect(shop.left()).toEqual(NONE);
    expect(shop.undone.has("charge")).toBe(mode !== "declined");
  });

  it("asks a person by a callback if a compensation fails, and goes on from there", async () => {
    shop = new Shop("a refund fails");
    const { status } = await shop.run();

    expect(status).toBe("FAILED");
    expect(shop.asked).toEqual([expect.stringContaining("stopped at charge/compensate")]);
    expect(shop.left()).toEqual(NONE);
  });

  it("tries again by itself, later and later, if no person is to be asked", async () => {
    shop = new Shop("a refund fails");
    const holds = { whenHeld: undefined };
    const deployed = shop.lambda.deploy(shop.handler(holds));
    const execution = shop.lambda.start({ id: "o1" });
    shop.lambda.holdsWaits = true;
    const startedAt = shop.clock.now();
    for (let days = 0; days < 12; days++) {
      await shop.lambda.run(deployed, execution);
      await shop.lambda.endWaits(execution);
    }
    expect(execution.status).toBe("RUNNING");
    expect(shop.clock.now() - startedAt).toBeGreaterThan(4 * 3_600_000);
    shop.asked.push("found by its log");
    shop.lambda.holdsWaits = false;

    expect((await shop.lambda.run(deployed, execution)).error).toContain("have been compensated");
    expect(shop.left()).toEqual(NONE);
  });

  it("doesn't turn back because of an error that only ends the invocation", async () => {
    let outages = 1;
    const charge = async () => {
      if (outages-- > 0)
        throw Object.assign(new Error("unreachable"), {
          isUnrecoverable: true,
          isUnrecoverableInvocation: true,
        });
    };

    expect(await shop.run(shop.handler({ before: { charge } }))).toMatchObject({
      status: "SUCCEEDED",
      invocations: 2,
    });
    expect(shop.left()).toEqual(ALL);
  });

  it("stays held if the person gives up, and the next execution for the operation goes on", async () => {
    shop = new Shop("a refund fails");
    const gaveUp = async (_context: unknown, error: Error) => Promise.reject(error);
    const { store, clock } = shop;
    const options = {
      operation: "orders",
      store,
      clock,
      key: ({ id }: Order) => id,
      client: shop.lambda.lambda,
    };
    const covered = (more: object) =>
      idempotentDurable<unknown, Order, MemoryWrite>(
        shop.handler(more) as never,
        options,
      ) as never as ReturnType<Shop["handler"]>;

    expect((await shop.run(covered({ whenHeld: gaveUp }))).error).toContain("stopped at charge/compensate");
    await clock.advance(61_000);
    shop.asked.push("refunds work again");
    expect((await shop.run(covered({}))).error).toContain("have been compensated");
    expect(shop.left()).toEqual(NONE);
    // The operation is over, so its answer is replayed.
    expect((await shop.run(covered({}))).error).toContain("have been compensated");
    expect(shop.done.get("charge")).toBe(1);
  });

  it("only goes forward after its pivot: it is held if a wait fails there, and the wait comes again", async () => {
    const tries = { charge: 0, wait: 0 };
    const keys: string[] = [];
    const forward = saga("deliver", [
      {
        name: "charge",
        pivot: true,
        run: () => {
          if (tries.charge++ === 0) throw new Error("no answer yet");
          return "charged";
        },
        retryLater: () => true,
        verify: () => ({ outcome: "did-not-happen" }),
      },
      {
        name: "ship",
        run: ({ childKey }: Context) => {
          keys.push(childKey(), currentChildKey(), currentChildKey("carrier"));
          return "shipped";
        },
      },
    ]);
    const { store, clock } = shop;
    const findCarrier = async () => {
      if (tries.wait++ === 0) throw new Error("no carrier");
    };
    const ship = (context: DurableContext) =>
      context.step("find a carrier", findCarrier, { retryStrategy: () => ({ shouldRetry: false }) });
    const { whenHeld } = shop.options();

    expect(
      await shop.run(((order: Order, context: DurableContext) =>
        onceSaga(context, forward, order, {
          store,
          clock,
          before: { ship },
          ...(whenHeld && { whenHeld }),
        })) as never),
    ).toMatchObject({ status: "SUCCEEDED", result: { charge: "charged", ship: "shipped" } });
    expect(shop.asked).toEqual([expect.stringContaining("stopped at ship; still to do: ship")]);
    expect([keys[0] === keys[1], keys[1] === keys[2]]).toEqual([true, false]);
  });

  it("runs the saga of another copy", async () => {
    vi.resetModules();
    const other = await import("onceonly/durable");
    expect(other.onceSaga).not.toBe(onceSaga);

    const handler = (order: Order, context: DurableContext) =>
      other.onceSaga(context, shop.placeOrder, order, shop.options());
    expect(await shop.run(handler)).toMatchObject({ status: "SUCCEEDED", invocations: 3 });
    expect(shop.left()).toEqual(ALL);
  });

  it("refuses before any effect: another object, an unknown step, a wrong option, the same saga twice", async () => {
    const errorOf = async (handler: (order: Order, context: DurableContext) => Promise<unknown>) =>
      (await shop.run(handler as never)).error;

    expect(
      await errorOf((order, context) => onceSaga(context, {} as never, order, shop.options())),
    ).toContain("`saga`");
    const before = { shop: async () => {} };
    expect(await errorOf(shop.handler({ before }))).toMatch(
      /`before` has shop, which isn't a step of place-order.*ship/,
    );
    expect(await errorOf(shop.handler({ before: { ship: 1 } }))).toContain("`before`");
    expect(await errorOf(shop.handler({ mode: "optimistic" }))).toContain("`mode`");
    expect(shop.left()).toEqual(NONE);
    const twice = async (order: Order, context: DurableContext) => {
      await shop.handler()(order, context);
      return shop.handler()(order, context);
    };
    expect(await errorOf(twice)).toContain("saga `place-order` is used twice");
    expect(shop.left()).toEqual(ALL);
  });
});

describe("a saga that is killed", () => {
  const ENDS: readonly (readonly [Mode, readonly number[]])[] = [
    ["honest", ALL],
    ["declined", NONE],
    ["not approved", NONE],
    ["no answer", NONE],
    ["a refund fails", NONE],
  ];

  it.each(ENDS)(
    "H42: H62: is all done or all undone, at each point, if it is %s",
    async (mode, end) => {
      const whole = new Shop(mode);
      await whole.run();
      expect(whole.left()).toEqual(end);
      const points = whole.lambda.points.length;
      const plans = Array.from({ length: points }, (_, kill) => [kill]);
      for (let first = 0; first < points; first++)
        for (let gap = 1; gap < inTier(0, 30); gap++) plans.push([first, first + gap]);
      for (const plan of plans) {
        const killed = new Shop(mode, plan);
        const { status, error } = await killed.run();
        // A charge whose answer was lost with the process is found by `verify`, and the saga goes on.
        const ends = mode === "no answer" && status === "SUCCEEDED" ? ALL : end;
        expect([plan, killed.left(), error ?? status]).toEqual([
          plan,
          ends,
          ends === ALL ? "SUCCEEDED" : expect.stringContaining("have been compensated"),
        ]);
        expect([plan, Math.max(0, ...killed.done.values())]).toEqual([plan, killed.done.size ? 1 : 0]);
      }
      console.log(`${mode}: ${plans.length} executions of ${points} points, killed`);
    },
    inTier(120_000, 1_200_000),
  );
});
