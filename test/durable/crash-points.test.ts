// Durable functions killed before and after each checkpoint, each request and each effect: what the SDK alone repeats, and what this
// entry doesn't. The shapes are those of AWS's samples: an order with a wait, a map over items, and a second delivery.
import type { DurableContext } from "@aws/durable-execution-sdk-js";
import type { AbandonedAttempt } from "onceonly";
import { idempotentDurable, onceStep } from "onceonly/durable";
import { describe, expect, it } from "vitest";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { DurableService } from "../kit/durable-service.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { inTier } from "../setup/tier.ts";

interface Order {
  readonly id: string;
}

type Way = "the SDK alone" | "onceStep" | "idempotentDurable with onceStep";

/** One world per run: Lambda, a store, and a provider that knows no keys but can be asked. */
class World {
  readonly clock = fakeClock();
  readonly store = new MemoryStore();
  readonly lambda: DurableService;
  readonly charges: string[] = [];
  readonly #way: Way;
  requests = 0;

  constructor(way: Way, kills: readonly number[]) {
    this.#way = way;
    this.lambda = new DurableService(this.clock, kills);
  }

  readonly #reaching = <S extends MemoryStore>(store: S) =>
    intercepted(store, async (method, request) => {
      await this.lambda.reach(`before ${method}`);
      this.requests++;
      const answer = await request();
      await this.lambda.reach(`after ${method}`);
      return answer;
    });

  /** An effect in another system. */
  async #charge(what: string) {
    await this.lambda.reach(`before the charge of ${what}`);
    this.charges.push(what);
    await this.lambda.reach(`after the charge of ${what}`);
    return what;
  }

  /** An effect in the database: counts how often it was applied. */
  #writeOf(what: string): MemoryWrite {
    const item = (former: { readonly times?: unknown } | undefined) => ({
      times: Number(former?.times ?? 0) + 1,
    });
    return { table: "ledger", key: what, item };
  }

  charge(context: DurableContext, name: string, what: string): Promise<unknown> {
    if (this.#way === "the SDK alone") return context.step(name, () => this.#charge(what));
    const whenAbandoned = (_previous: AbandonedAttempt) =>
      this.charges.includes(what)
        ? ({ outcome: "happened", result: what } as const)
        : ({ outcome: "did-not-happen" } as const);
    const { clock } = this;
    return onceStep(context, name, () => this.#charge(what), {
      store: this.#reaching(this.store),
      clock,
      whenAbandoned,
    });
  }

  write(context: DurableContext, name: string, what: string): Promise<unknown> {
    const { clock } = this;
    if (this.#way === "the SDK alone")
      return context.step(name, async () => {
        await this.lambda.reach(`before the write of ${what}`);
        this.requests++;
        await this.store.insert({
          ...ROW,
          recordKey: `${this.requests}`,
          writes: [this.#writeOf(what)],
        } as never);
        await this.lambda.reach(`after the write of ${what}`);
        return what;
      });
    return onceStep<unknown, MemoryWrite>(
      context,
      name,
      ({ commit }) => commit(what, { writes: [this.#writeOf(what)] }),
      { store: this.#reaching(this.store), clock },
    );
  }

  /** @returns effects that happened more than once, effects that are missing, and whether each execution succeeded */
  async run(handler: Handler, effects: readonly string[]) {
    const work = (order: Order, context: DurableContext) => handler(this, order, context);
    const isCovered = this.#way === "idempotentDurable with onceStep";
    const { clock, lambda } = this;
    const options = { operation: "fulfil", store: this.#reaching(this.store), clock, client: lambda.lambda };
    const covered = idempotentDurable<unknown, Order>(work as never, { ...options, key: ({ id }) => id });
    const deployed = lambda.deploy((isCovered ? covered : work) as typeof work);
    const { status } = await lambda.run(deployed, lambda.start({ id: "o1" }));
    const second = isCovered ? (await lambda.run(deployed, lambda.start({ id: "o1" }))).status : "SUCCEEDED";
    const ledger = this.store.table("ledger");
    const times = (effect: string) =>
      this.charges.filter((charge) => charge === effect).length + Number(ledger.get(effect)?.times ?? 0);
    return {
      doubled: effects.filter((effect) => times(effect) > 1).length,
      lost: effects.filter((effect) => times(effect) === 0).length,
      failed: [status, second].filter((each) => each !== "SUCCEEDED").length,
    };
  }
}

const ROW = {
  token: "",
  fingerprint: "",
  state: "completed",
  now: 0,
  attempt: 1,
  createdAt: 0,
  keepsSteps: false,
  messages: [],
};

type Handler = (world: World, order: Order, context: DurableContext) => Promise<unknown>;

const SHAPES: readonly (readonly [name: string, effects: readonly string[], handler: Handler])[] = [
  [
    "an order with a wait",
    ["charge", "ship"],
    async (world, _order, context) => {
      await world.charge(context, "charge", "charge");
      await context.wait("cool off", { hours: 1 });
      return world.write(context, "ship", "ship");
    },
  ],
  [
    "a map over items",
    ["a", "b", "c", "invoice"],
    async (world, _order, context) => {
      await context.map("items", ["a", "b", "c"], (child, item) =>
        world.write(child as DurableContext, "reserve", item),
      );
      return world.charge(context, "invoice", "invoice");
    },
  ],
  [
    "branches with a wait in one",
    ["left", "right", "end"],
    async (world, _order, context) => {
      await context.parallel("both", [
        async (child) => world.charge(child, "pay", "left"),
        async (child) => {
          await child.wait("slowly", { minutes: 5 });
          return world.write(child, "pay", "right");
        },
      ]);
      return world.write(context, "end", "end");
    },
  ],
];

/** Each point alone, and pairs of points. */
function plans(points: number, pairs: number): readonly (readonly number[])[] {
  const single = Array.from({ length: points }, (_, kill) => [kill]);
  const double = single.flatMap(([kill = 0]) =>
    Array.from({ length: pairs }, (_, gap) => [kill, kill + 1 + 3 * gap]),
  );
  return [...single, ...double];
}

async function crashed(way: Way, pairs: number) {
  const total = { runs: 0, doubled: 0, lost: 0, failed: 0 };
  for (const [, effects, handler] of SHAPES) {
    const whole = new World(way, []);
    expect(await whole.run(handler, effects)).toEqual({ doubled: 0, lost: 0, failed: 0 });
    for (const plan of plans(whole.lambda.points.length, pairs)) {
      const { doubled, lost, failed } = await new World(way, plan).run(handler, effects);
      total.runs++;
      total.doubled += doubled;
      total.lost += lost;
      total.failed += failed;
    }
  }
  console.log(`${way}: ${JSON.stringify(total)}`);
  return total;
}

describe("killed at each point, and at two", () => {
  it("the SDK alone repeats effects: the control", async () => {
    const { doubled, lost } = await crashed("the SDK alone", inTier(0, 6));

    expect(doubled).toBeGreaterThan(0);
    expect(lost).toBe(0);
  }, 300_000);

  it.each(["onceStep", "idempotentDurable with onceStep"] as const)(
    "H62: %s repeats and loses none",
    async (way) => {
      expect(await crashed(way, inTier(1, 6))).toMatchObject({ doubled: 0, lost: 0, failed: 0 });
    },
    300_000,
  );
});

describe("requests", () => {
  it.each([
    ["the SDK alone", 1],
    ["onceStep", 2],
  ] as const)("a step with one write makes, with %s: %i", async (way, requests) => {
    const world = new World(way, []);
    await world.run(async (at, _order, context) => at.write(context, "ship", "ship"), ["ship"]);

    expect(world.requests).toBe(requests);
  });
});
