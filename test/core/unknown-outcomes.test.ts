// Outcomes that nobody knows are found without a call for their key, in every store that may hold them.
import { describe, expect, it } from "vitest";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import type { UnknownOutcome } from "../../lib/core/unknown-outcome.ts";
import { cached } from "../../lib/stores/cached.ts";
import { MemoryStore } from "../../lib/testing/index.ts";
import { abandoned, never } from "./abandoned-given.ts";
import { newWorld, START } from "./world.ts";

async function listed(store: Pick<Store, "unknownOutcomes">, before: number): Promise<UnknownOutcome[]> {
  const outcomes: UnknownOutcome[] = [];
  for await (const outcome of store.unknownOutcomes!({ before })) outcomes.push(outcome);
  return outcomes;
}

describe("unknownOutcomes", () => {
  it("H6: lists an abandoned key for which no call ever comes again", async () => {
    const world = await abandoned("hold");
    await world.clock.advance(48 * 3_600_000);

    expect(await listed(world.memory, world.clock.now())).toEqual([
      {
        recordKey: expect.stringMatching(/^[^#]+#[^#]*#/),
        state: "abandoned",
        since: START + 35_000,
        attempt: 1,
      },
    ]);
  });

  it("H6: lists a held key with the evidence so far, and no payload", async () => {
    const world = await abandoned(() => ({ outcome: "unknown", evidence: { asked: "GET /charges" } }));
    await expect(world.call(never)).rejects.toThrow("unknown");

    const [outcome, ...others] = await listed(world.memory, world.clock.now() + 1);

    expect(others).toEqual([]);
    expect(outcome).toEqual({
      recordKey: outcome?.recordKey,
      state: "held",
      since: START + 36_000,
      attempt: 2,
      evidence: { verdict: "unknown", by: "verify", at: START + 36_000, attempt: 1, asked: "GET /charges" },
    });
  });

  it("lists a key without its evidence if that can't be read", async () => {
    const world = await abandoned("hold");
    for (const evidence of ["{", "null"]) {
      for (const { recordKey } of await listed(world.memory, world.clock.now())) {
        world.memory.alter(recordKey, { evidence });
      }
      expect(await listed(world.memory, world.clock.now())).toEqual([
        expect.not.objectContaining({ evidence: expect.anything() }),
      ]);
    }
  });

  it('H6: lists neither keys of "run" nor keys that have ended or are resolved', async () => {
    const ran = await abandoned("run");
    const done = newWorld({ whenAbandoned: "hold" });
    await done.call(never);
    expect(await listed(ran.memory, ran.clock.now())).toEqual([]);
    expect(await listed(done.memory, done.clock.now() + 3_600_000)).toEqual([]);
  });

  it("H6: a key that is resolved is listed no more", async () => {
    const { memory: store, clock } = newWorld();
    const options = { operation: "charge", store, clock, leaseSeconds: 30, renewLease: false } as const;
    const charge = (attempt: () => unknown) =>
      runOnce({ ...options, whenAbandoned: "hold" }, "order-1", {}, attempt);
    void charge(() => new Promise(() => {}));
    await clock.advance(36_000);
    await expect(charge(never)).rejects.toThrow("unknown");
    expect(await listed(store, clock.now() + 1)).toHaveLength(1);

    const verdict = { outcome: "did-not-happen", by: "ana", why: "not in the dashboard" } as const;
    await resolveOutcome({ operation: "charge", store, clock }, "order-1", verdict);

    expect(await listed(store, clock.now() + 3_600_000)).toEqual([]);
  });

  it("lists through cached as well", async () => {
    const world = await abandoned("hold");

    expect(await listed(cached(world.memory), world.clock.now())).toHaveLength(1);
  });
});

describe("a store that cannot list unknown outcomes", () => {
  const store = new Proxy(new MemoryStore(), {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (name === "unknownOutcomes") return undefined;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const options = { operation: "charge", leaseSeconds: 30 } as const;

  it.each(["hold", () => ({ outcome: "unknown" }) as const] as const)(
    "H6: is rejected before any request if keys may be held",
    async (whenAbandoned) => {
      for (const each of [store, cached(store)]) {
        const call = runOnce({ ...options, store: each, whenAbandoned }, "order-1", {}, never);

        await expect(call).rejects.toMatchObject({ code: "INVALID_OPTION" });
        await expect(call).rejects.toThrow(/whenAbandoned.*a store with the method `unknownOutcomes`/);
      }
      expect(store.records.size).toBe(0);
    },
  );

  it('serves "run" as ever', async () => {
    expect(await runOnce({ ...options, store }, "order-1", {}, never)).toBe("ran");
  });
});
