import { describe, expect, it } from "vitest";
import {
  DECISIONS,
  type Decision,
  noObserver,
  type Observe,
  reportDecision,
  wasReported,
} from "../../lib/core/decisions.ts";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { newWorld, START, type World } from "./world.ts";

/** The adapters of lib/lambda report these, because they look for the key, and batches request several records together. A store reports `new-keys`. */
const REPORTED_BY_ADAPTERS = [
  "key-missing",
  "caller-refused",
  "key-fallback",
  "group-refused",
  "new-keys",
] as const satisfies readonly Decision[];
type Reported = Exclude<Decision, (typeof REPORTED_BY_ADAPTERS)[number]>;
const isReported = (decision: Decision): decision is Reported =>
  !REPORTED_BY_ADAPTERS.some((other) => other === decision);

/** How each decision comes about; the world's events show whether it did. */
const SCENARIOS: Record<Reported, (world: World) => Promise<unknown>> = {
  executed: (world) => world.call(async () => 1),
  replayed: async (world) => {
    await world.call(async () => 1);
    await world.call(async () => 2);
  },
  "in-progress": async (world) => {
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    await world.call(async () => 2);
  },
  held: async (world) => {
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    for (const recordKey of world.memory.records.keys()) world.memory.alter(recordKey, { state: "held" });
    await world.call(async () => 2);
  },
  mismatch: async (world) => {
    await world.call(async () => 1);
    await world.call(async () => 2, {}, { input: "other" });
  },
  "taken-over": async (world) => {
    world.start(() => new Promise(() => {}));
    await world.clock.advance(60_000);
    await world.call(async () => 2);
  },
  verified: async (world) => {
    const whenAbandoned = () => ({ outcome: "happened", result: 1 }) as const;
    world.start(() => new Promise(() => {}), { whenAbandoned });
    await world.clock.advance(60_000);
    await world.call(async () => 2, { whenAbandoned });
  },
  "claim-lost": async (world) => {
    const slow = world.start(() => world.clock.sleep(100_000));
    await world.clock.advance(60_000);
    await world.call(async () => 2);
    await world.clock.advance(60_000);
    await slow;
  },
  "completion-lost": (world) =>
    world.call(async () => 1, { store: failing(world.memory, "settle", "before") }),
  "outcome-unknown": (world) =>
    world.call(({ commit }) => commit(1), { store: failing(world.memory, "settle", "after") }),
  "store-failed": (world) => world.call(async () => 1, { store: failing(world.memory, "claim", "before") }),
  "ran-unprotected": (world) =>
    world.call(async () => 1, { store: failing(world.memory, "claim", "before"), whenStoreFails: "run" }),
  released: (world) => world.call(() => Promise.reject(new Error("again"))),
  "key-expired": async (world) => {
    await world.call(async () => 1, { retentionSeconds: 1 });
    await world.clock.advance(1000);
    await world.call(async () => 2);
  },
  "clock-skewed": (world) => world.call(async () => 1, { clock: world.clock.skewed(60_000) }),
};

describe("DECISIONS", () => {
  it.each(DECISIONS.filter(isReported))(
    "%s is reported once, with operation, key hash and a duration",
    async (decision) => {
      const world = newWorld({}, { serverTime: () => START });

      await SCENARIOS[decision](world).catch(() => {});

      const reports = world.events.filter((event) => event.decision === decision);
      if (decision !== "store-failed" && decision !== "executed" && decision !== "clock-skewed") {
        expect(reports).toHaveLength(1);
      }
      for (const event of reports) {
        expect(event).toMatchObject({ operation: "create-order", keyHash: expect.any(String) });
        expect(event.durationMs).toBeGreaterThanOrEqual(0);
      }
      expect(reports.length).toBeGreaterThan(0);
    },
  );
});

describe("a failure of the store is logged unless an observer has seen it", () => {
  const reportTo = (observe: Observe, error: object) => {
    reportDecision(
      observe,
      { operation: "create-order" },
      { decision: "store-failed", durationMs: 0, error },
    );
    return wasReported(error);
  };

  it.each([
    ["seen", () => {}, new StoreUnavailableError("unreachable", undefined), true],
    [
      "not seen by the default observer",
      noObserver,
      new StoreUnavailableError("unreachable", undefined),
      false,
    ],
    ["seen by an observer, but not the store's", () => {}, new Error("down"), false],
  ])("%s", (_case, observe, error, seen) => {
    expect(wasReported(error)).toBe(false);
    expect(reportTo(observe, error)).toBe(seen);
  });
});
