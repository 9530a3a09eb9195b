// What the engine asks a store to write when an attempt ends: stores need all of it, and a store in memory uses only a part.
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { Settlement } from "../../lib/core/store.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted } from "../kit/faults/faulty-store.ts";
import { abandoned, evidenceOf } from "./abandoned-given.ts";
import { counting, newWorld, START, type World } from "./world.ts";

type Work = Execution<MemoryWrite>;
class SeatTaken extends Error {
  override readonly name = "SeatTaken";
}
const fail = () => Promise.reject(new SeatTaken("taken"));
const DAY = 86_400;

/** A store that keeps the settlements it is given. */
function kept(world: Pick<World, "memory">) {
  const settlements: Settlement<MemoryWrite>[] = [];
  const store = intercepted(world.memory, (method, request, [given]) => {
    if (method === "settle") settlements.push(given as Settlement<MemoryWrite>);
    return request();
  });
  return { store, settlements };
}

const tracked = { tracked: true };

describe("an attempt that fails between tracked steps", () => {
  const failsAfter = (world: World, options: object) =>
    world
      .call(async ({ step }: Work) => {
        await step("reserve", () => 1, options);
        await fail();
      })
      .catch(() => {});

  it("is released without an expiry, and records when and by which error it stopped", async () => {
    const world = newWorld();
    const { store, settlements } = kept(world);

    await world.clock.run(
      world
        .start(
          async ({ step }) => {
            await step("reserve", () => 1, tracked);
            await world.clock.sleep(1000);
            await fail();
          },
          { store },
        )
        .catch(() => {}),
    );

    expect(settlements).toMatchObject([{ state: "released", isListed: false, dropsSteps: false }]);
    expect(settlements[0]?.expiresAt).toBeUndefined();
    expect(evidenceOf(world)).toEqual({
      verdict: "unknown",
      by: "handler",
      at: START + 1000,
      attempt: 1,
      lastError: { name: "SeatTaken", at: START + 1000 },
    });
  });

  it("keeps the last error, not the first", async () => {
    const world = newWorld();
    await failsAfter(world, tracked);
    await world.clock.advance(5000);
    await world.call(() => Promise.reject(new RangeError("late"))).catch(() => {});

    expect(evidenceOf(world)).toMatchObject({
      attempt: 2,
      lastError: { name: "RangeError", at: START + 5000 },
    });
  });

  it("that completes afterwards leaves the list, and drops its steps", async () => {
    const world = newWorld();
    await failsAfter(world, tracked);
    const { store, settlements } = kept(world);

    await world.call(async ({ step }) => step("reserve", () => 2, tracked), { store });

    expect(settlements).toMatchObject([{ state: "completed", isListed: true, dropsSteps: true }]);
    expect(settlements[0]?.expiresAt).toBe(START / 1000 + DAY);
  });

  it("is like any other when its steps aren't tracked: it expires, and has no evidence", async () => {
    const world = newWorld();
    const { store, settlements } = kept(world);

    await world
      .call(
        async ({ step }) => {
          await step("reserve", () => 1);
          await fail();
        },
        { store },
      )
      .catch(() => {});

    expect(settlements).toMatchObject([
      { state: "released", isListed: false, expiresAt: START / 1000 + DAY, dropsSteps: false },
    ]);
    expect(settlements[0]?.evidence).toBeUndefined();
  });

  it("but ends with a result that isn't stored, has no error to name", async () => {
    const world = newWorld({ shouldStore: () => false });

    await world.call(({ step }) => step("reserve", () => 1, tracked));

    expect(world.record().state).toBe("released");
    expect(world.record()).not.toHaveProperty("evidence");
  });
});

describe("an attempt without steps", () => {
  it.each([
    ["run", "completed", false],
    ["hold", "completed", true],
    ["run", "released", false],
    ["hold", "released", true],
  ] as const)(
    "with whenAbandoned %s that is %s: isListed %s, dropsSteps false",
    async (whenAbandoned, state, isListed) => {
      const world = newWorld({ whenAbandoned });
      const { store, settlements } = kept(world);

      await world.call(state === "completed" ? async () => 1 : fail, { store }).catch(() => {});

      expect(settlements).toMatchObject([
        { state, isListed, dropsSteps: false, expiresAt: START / 1000 + DAY },
      ]);
    },
  );

  it("that is held has no expiry", async () => {
    const world = await abandoned("hold");
    const { store, settlements } = kept(world);

    await world.call(async () => "never", { store }).catch(() => {});

    expect(settlements).toMatchObject([{ state: "held", isListed: true }]);
    expect(settlements[0]?.expiresAt).toBeUndefined();
  });
});

describe("an attempt that was aborted", () => {
  const stops = ({ signal }: Work) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));

  it.each([
    ["half of the time that is left", { remainingMs: 10_000 }, 9500 + 250],
    ["a second when nothing ends its process", {}, 29_500 + 1000],
  ])("looks at its record consistently, and waits %s for the answer", async (_, request, endsAt) => {
    const world = newWorld();
    const reads: unknown[] = [];
    const store = intercepted(world.memory, (method, ask, [, read]) => {
      if (method !== "find") return ask();
      reads.push(read);
      return new Promise(() => {});
    });

    const ended = world.start(stops, { store }, request);
    await expect(world.clock.run(ended)).rejects.toThrow();

    expect(reads).toEqual([{ consistent: true }]);
    expect(world.clock.now() - START).toBe(endsAt);
  });
});

describe("a claim that is refused", () => {
  it("by a record that is gone when it is read is made again after a pause of up to 20 ms", async () => {
    const world = newWorld();
    let claims = 0;
    const store = intercepted(world.memory, async (method, request) => {
      if (method === "claim" && ++claims === 1) return { won: false, record: undefined };
      return request();
    });

    expect(await world.call(async ({ attempt }) => attempt, { store })).toBe(1);

    expect(claims).toBe(2);
    expect(world.clock.now() - START).toBeGreaterThanOrEqual(10);
    expect(world.clock.now() - START).toBeLessThanOrEqual(20);
  });

  it("by an expired record takes over without a pause", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => 1);
    await world.clock.advance(61_000);

    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    expect(world.clock.now() - START).toBe(61_000);
  });

  it("by its own claim, whose answer was lost, goes on as if it were won then", async () => {
    const world = newWorld();
    let isLost = false;
    const store = intercepted(world.memory, async (method, request) => {
      const answer = await request();
      if (method !== "claim" || isLost) return answer;
      isLost = true;
      return { won: false, record: world.record() };
    });

    expect(await world.call(async ({ attempt }) => attempt, { store })).toBe(1);
    expect(world.record()).toMatchObject({ state: "completed", createdAt: START });
  });

  it("by its own earlier claim, which arrives late, began when that one was made", async () => {
    const world = newWorld();
    let late: (() => unknown) | undefined;
    const settlements: unknown[] = [];
    const store = intercepted(world.memory, async (method, request, [given]) => {
      if (method === "settle") settlements.push(given);
      if (method !== "claim") return request();
      if (late) {
        await late();
        return request();
      }
      late = request;
      return { won: false, record: undefined };
    });
    let stoppedAt = 0;

    const ended = world.start(
      ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            stoppedAt = world.clock.now() - START;
            resolve("stopped");
          }),
        ),
      { store },
    );

    expect((await world.clock.run(ended)).result).toBe("stopped");
    expect(stoppedAt).toBe(29_500);
    expect(settlements).toMatchObject([{ state: "completed", isListed: false }]);
  });

  it("by a finished record is answered without a pause and without a look, whatever `whenInProgress` says", async () => {
    const world = newWorld({ whenInProgress: { waitSeconds: 10 } });
    await world.call(async () => 1);
    const { requests, store } = counting(world);

    expect(await world.call(async () => 2, { store })).toBe(1);

    expect(requests).toEqual(["claim"]);
    expect(world.clock.now()).toBe(START);
  });

  it("by a key that is held with its steps stays refused with whenAbandoned hold", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const handler = async ({ step }: Work) => {
      await step("reserve", () => 1);
      throw new OutcomeUnknownError();
    };
    await expect(world.call(handler)).rejects.toThrow(OutcomeUnknownError);
    await world.clock.advance(3_600_000);

    await expect(world.call(async () => "never")).rejects.toThrow(OutcomeUnknownError);

    expect(world.record()).toMatchObject({
      state: "held",
      attempt: 1,
      steps: { reserve: { state: "done" } },
    });
  });

  it('in progress is answered immediately with `whenInProgress: "reject"`, without a look', async () => {
    const world = newWorld({ whenInProgress: "reject" });
    void world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    const store = failing(world.memory, "find", "before", {});

    await expect(world.call(async () => "never", { store })).rejects.toThrow("in progress");
    expect(world.clock.now()).toBe(START);
  });
});
