// Steps that were interrupted, and that nobody calls for again.
import { describe, expect, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { AbandonedRecord, VerifyRecord } from "../../lib/core/verify.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { reconcilerWorld, START } from "./given.ts";

type Run = Execution<MemoryWrite>;

const hang = () => new Promise<never>(() => {});
const atMostOnce = { atMostOnce: true };
const unknown: VerifyRecord = () => ({ outcome: "unknown" });
const happened: VerifyRecord = () => ({ outcome: "happened", result: "ch_1" });
const didNotHappen: VerifyRecord = () => ({ outcome: "did-not-happen" });

/** A handler that dies in two steps side by side, behind a first one that is done. */
async function interrupted() {
  const world = reconcilerWorld();
  const dies = async ({ step }: Run) => {
    await step("reserve", () => "stock");
    return Promise.all([step("charge", hang, atMostOnce), step("mail", hang, atMostOnce)]);
  };
  void world.call("order-1", dies, { whenAbandoned: "run" });
  await world.clock.advance(0);
  const reconcile = (steps: Record<string, VerifyRecord>, more: object = {}) =>
    world.reconcile("hold", { operations: { charge: { steps } }, ...more });
  const ran: string[] = [];
  const retry = ({ step }: Run) => {
    const once = (name: string) => step(name, () => ran.push(name) && `${name} again`, atMostOnce);
    return Promise.all(["reserve", "charge", "mail"].map(once));
  };
  const goesOn = () => world.call<unknown>("order-1", retry, { whenAbandoned: "run" });
  return { ...world, reconcile, goesOn, ran };
}

describe("a reconciler, of interrupted steps", () => {
  it("H60: records what happened and what did not, and a retry continues after both", async () => {
    const world = await interrupted();
    const asked: AbandonedRecord[] = [];
    const charge: VerifyRecord = (previous) => {
      asked.push(previous);
      return happened(previous);
    };

    expect(await world.reconcile({ charge, mail: didNotHappen })).toMatchObject({ happened: 1, waiting: 0 });

    expect(world.record("order-1")).toMatchObject({ state: "released", expiresAt: expect.any(Number) });
    expect(asked).toEqual([
      expect.objectContaining({ attempt: 1, fence: 2, leaseEndedAt: expect.any(Number), scope: "" }),
    ]);
    expect(asked[0]?.startedAt).toBeGreaterThanOrEqual(START);
    expect(await world.goesOn()).toEqual(["stock", "ch_1", "mail again"]);
    expect(world.ran).toEqual(["mail"]);
  });

  it("H60: holds the key for the step with an unknown outcome, and keeps the known outcome of the other", async () => {
    const world = await interrupted();

    expect(await world.reconcile({ charge: happened, mail: unknown })).toMatchObject({ unknown: 1 });

    expect(world.record("order-1")).toMatchObject({
      state: "held",
      steps: { charge: { state: "done" }, mail: { state: "begun" } },
    });
    expect(world.evidence("order-1")).toMatchObject({ verdict: "unknown", by: "reconciler", step: "mail" });
    expect(await world.reconcile({ charge: unknown, mail: didNotHappen })).toMatchObject({ didNotHappen: 1 });
    expect(await world.goesOn()).toEqual(["stock", "ch_1", "mail again"]);
  });

  it("H60: holds the key for a step that it cannot ask about, whatever is known of the other", async () => {
    const world = await interrupted();

    expect(await world.reconcile({ charge: happened })).toMatchObject({ unknown: 1 });
    expect(await world.reconcile({ charge: happened })).toMatchObject({ waiting: 1 });

    expect(world.record("order-1")).toMatchObject({ state: "held", steps: { charge: { state: "done" } } });
  });

  it("leaves a key alone whose step has no function, and asks about a whole key as before", async () => {
    const world = await interrupted();
    await world.dies("order-2");
    const operations = { charge: { verify: happened, steps: { refund: unknown } } };

    const report = await world.run(world.optionsOf("hold", { operations, minAgeSeconds: 1 }));
    expect(report).toMatchObject({ waiting: 0, happened: 0 });
    await world.clock.advance(100_000);
    expect(await world.run(world.optionsOf("hold", { operations }))).toMatchObject({
      waiting: 1,
      happened: 1,
    });
  });

  it("H60: settles a saga's step, which stays listed until the saga is finished, and waits for that", async () => {
    const world = await interrupted();
    const { steps = {} } = world.record("order-1");
    const tracked = Object.entries(steps).map(([name, step]) => [name, { ...step, tracked: true }]);
    world.store.alter(world.keyOf("order-1"), { steps: Object.fromEntries(tracked) });
    const known = { charge: happened, mail: didNotHappen };

    expect(await world.reconcile(known)).toMatchObject({ happened: 1 });
    expect(world.record("order-1")).toMatchObject({
      state: "released",
      steps: { charge: { state: "done" } },
    });
    expect(world.record("order-1").expiresAt).toBeUndefined();

    const before = JSON.stringify(world.record("order-1"));
    expect(await world.reconcile(known)).toMatchObject({ happened: 0 });
    expect(JSON.stringify(world.record("order-1"))).toBe(before);
  });

  it("names the step whose function answers wrongly", async () => {
    const world = await interrupted();

    await world.reconcile({ charge: (() => true) as unknown as VerifyRecord });

    const [event] = world.events;
    expect(event).toMatchObject({
      error: { message: expect.stringContaining("operations.charge.steps.charge") },
    });
  });

  it("H60: records nothing for a step once another call has the key", async () => {
    const world = await interrupted();
    const store = intercepted(world.store, async (method, request) => {
      if (method === ("writeStep" as never)) world.store.alter(world.keyOf("order-1"), { token: "another" });
      return request();
    });

    expect(await world.reconcile({ charge: happened }, { store })).toMatchObject({ happened: 0, unknown: 0 });

    expect(world.record("order-1").steps).toMatchObject({ charge: { state: "begun" } });
  });
});
