// What a fork does on any store: from a handler's step and from a saga's.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { PermanentError } from "../../../lib/core/errors.ts";
import type { Execution } from "../../../lib/core/execution.ts";
import { forkableSteps } from "../../../lib/core/fork-plan.ts";
import { forkRecord } from "../../../lib/core/fork-record.ts";
import { identify } from "../../../lib/core/identity.ts";
import { decisionIn } from "../../../lib/core/reopening.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import type { Store } from "../../../lib/core/store.ts";
import { decodeEvidence } from "../../../lib/core/verify.ts";
import { saga } from "../../../lib/saga/saga.ts";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";

export const BY = { by: "ana", why: "release 7 priced wrongly" };
export const LARGE = "x".repeat(30_000);

export function forkWorld(store: Store<never>) {
  const clock = fakeClock(Date.now());
  const key: string = randomUUID();
  const options = { operation: "order", scope: "acme", store, clock, leaseSeconds: 30, renewLease: false };
  const keyOf = (name: string) => identify("order", "acme", name).recordKey;
  const recordOf = async (name: string) => (await store.find(keyOf(name), { consistent: true }))!;
  const ran: string[] = [];
  /** Reserves, prices by this deployment, charges, and may fail in the end. */
  const place = (name: string, price: number, more: { fails?: Error; keepSteps?: boolean } = {}) => {
    const { fails, ...opts } = more;
    return runOnce(
      { ...options, ...opts },
      name,
      { order: 7 },
      async ({ step, childKey }: Execution<never>) => {
        const reserved = await step("reserve", () => {
          ran.push("reserve");
          return LARGE;
        });
        await clock.advance(1);
        const amount = await step("price", () => {
          ran.push("price");
          return price;
        });
        await clock.advance(1);
        const charged = await step("charge", () => {
          ran.push(`charge ${amount}`);
          return childKey("charge");
        });
        if (fails) throw fails;
        return { reserved: reserved.length, amount, charged };
      },
    );
  };
  const fork = (from: string, as: string, of: string = key, through = store, more = {}) =>
    forkRecord({ store: through, clock }, keyOf(of), { ...BY, from, as, ...more });
  return { clock, key, options, keyOf, recordOf, ran, place, fork, store };
}

export interface Fork {
  readonly name: string;
  check(store: Store<never>): Promise<void>;
}

export const FORKS: readonly Fork[] = [
  {
    name: "copies the steps before, runs the others again, and names the two records in each other",
    check: async (store) => {
      const { key, place, fork, ran, recordOf, keyOf } = forkWorld(store);
      await expect(place(key, 9999, { fails: new Error("down") })).rejects.toThrow("down");
      const as = `${key}-repaired`;

      expect(await fork("price", as)).toEqual({
        forked: true,
        recordKey: keyOf(as),
        copied: ["reserve"],
        again: ["price", "charge"],
        started: [],
      });

      // Until the fork runs, the original can't go on.
      await expect(place(key, 10)).rejects.toMatchObject({ name: "ForkedError", statusCode: 409 });
      expect(await place(as, 10)).toMatchObject({ reserved: LARGE.length, amount: 10 });
      expect(ran).toEqual(["reserve", "price", "charge 9999", "price", "charge 10"]);
      expect(await place(as, 10)).toMatchObject({ amount: 10 });
      const [original, forked] = [await recordOf(key), await recordOf(as)];
      expect(decodeEvidence(original.evidence)).toMatchObject({
        ...{ by: "ana", answered: BY.why, fork: { to: keyOf(as) }, past: [{ state: "released" }] },
      });
      expect(decodeEvidence(forked.evidence)).toMatchObject({
        ...{ by: "ana", answered: BY.why, fork: { of: keyOf(key) }, step: "price" },
      });
      expect([original.state, forked.state]).toEqual(["failed", "completed"]);
      // Neither is an earlier decision about what happened.
      expect([decisionIn(original), decisionIn(forked)]).toEqual([undefined, undefined]);
    },
  },

  {
    name: "of a finished key that kept its steps leaves its answer, and can be made again",
    check: async (store) => {
      const { key, place, fork, ran, recordOf } = forkWorld(store);
      const wrong = await place(key, 9999, { keepSteps: true });
      const before = await recordOf(key);

      expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true, copied: ["reserve"] });
      // A repetition, as after a lost answer, changes nothing.
      expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true });
      expect(await place(key, 10)).toEqual(wrong);
      expect(await recordOf(key)).toEqual(before);
      // From another step it would be another fork.
      expect(await fork("charge", `${key}-1`)).toEqual({ forked: false, state: "taken" });
      expect(await fork("reserve", `${key}-2`)).toMatchObject({ forked: true, copied: [] });
      await place(`${key}-1`, 10);
      await place(`${key}-2`, 20);
      // Nor after the fork has run.
      expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true });
      expect(ran.slice(3)).toEqual(["price", "charge 10", "reserve", "price", "charge 20"]);
    },
  },

  {
    name: "of a key that failed for good and kept its steps leaves its error",
    check: async (store) => {
      const { key, place, fork, recordOf } = forkWorld(store);
      const fails = new PermanentError("no such article");
      await expect(place(key, 9999, { fails, keepSteps: true })).rejects.toThrow("no such article");
      const before = await recordOf(key);

      expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true, copied: ["reserve"] });

      expect(await recordOf(key)).toEqual(before);
      await expect(place(key, 10)).rejects.toThrow("no such article");
      expect(await place(`${key}-1`, 10)).toMatchObject({ amount: 10 });
    },
  },

  {
    name: "of a saga that stopped runs it to its end, with new child keys",
    check: async (store) => {
      const world = forkWorld(store);
      const { options, key, fork } = world;
      const ran: string[] = [];
      const keys: string[] = [];
      const order = (price: number, isUp: boolean) =>
        saga("order", [
          {
            name: "reserve",
            run: () => void ran.push("reserve"),
            compensate: () => void ran.push("unreserve"),
          },
          {
            name: "charge",
            pivot: true,
            run: ({ childKey }) => {
              ran.push(`charge ${price}`);
              keys.push(childKey());
            },
          },
          {
            name: "ship",
            run: () => (isUp ? void ran.push("ship") : Promise.reject(new Error("no such carrier"))),
          },
        ]);
      const call = (name: string, price: number, isUp: boolean) =>
        runOnce({ ...options, whenAbandoned: "hold" }, name, {}, (execution) =>
          order(price, isUp).run(execution, {}),
        );
      await expect(call(key, 9999, false)).rejects.toMatchObject({ code: "SAGA_PENDING" });
      expect(forkableSteps(await world.recordOf(key))).toEqual([
        "order/reserve",
        "order/charge",
        "order/ship",
      ]);

      // The carrier's answer may have been lost.
      expect(await fork("order/charge", `${key}-1`)).toEqual({
        forked: false,
        state: "started",
        steps: ["order/ship"],
      });
      const anyway = { evenThoughStarted: true };
      expect(await fork("order/charge", `${key}-1`, key, store, anyway)).toMatchObject({
        copied: ["order/reserve"],
        started: ["order/ship"],
      });
      expect((await world.recordOf(`${key}-1`)).expiresAt).toBeUndefined();
      await call(`${key}-1`, 10, true);

      expect(ran).toEqual(["reserve", "charge 9999", "charge 10", "ship"]);
      expect(new Set(keys).size).toBe(2);
      // From a step that was never recorded, all that are done are copied.
      const other = randomUUID();
      await expect(call(other, 5, false)).rejects.toThrow();
      expect(await fork("order/ship", `${other}-1`, other, store, anyway)).toMatchObject({
        copied: ["order/reserve", "order/charge"],
      });
      await call(`${other}-1`, 6, true);
      expect(ran.slice(4)).toEqual(["reserve", "charge 5", "ship"]);
    },
  },
];
