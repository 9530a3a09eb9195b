import { describe, expect, it } from "vitest";
import { DEFAULTS } from "../../bench/demo/options.ts";
import {
  KILL_POINTS,
  type Kind,
  type Plan,
  planDemo,
  planHash,
  SHARES,
  TENANTS,
} from "../../bench/demo/plan.ts";

const countsOf = (plan: Plan) => {
  const counts: Partial<Record<Kind, number>> = {};
  for (const { behaviour } of plan.orders) counts[behaviour.kind] = (counts[behaviour.kind] ?? 0) + 1;
  return counts;
};

describe("planDemo", () => {
  it("gives the same plan for the same options", () => {
    const options = { orders: 50, duplicates: 2, seed: 42 };

    expect(planDemo(options)).toEqual(planDemo({ ...options }));
    expect(planHash(planDemo(options))).toBe(planHash(planDemo({ ...options })));
  });

  it.each([
    ["seed", { ...DEFAULTS, seed: 2 }],
    ["number of orders", { ...DEFAULTS, orders: 119 }],
    ["number of duplicates", { ...DEFAULTS, duplicates: 4 }],
  ])("gives another plan for another %s", (_, options) => {
    expect(planHash(planDemo(options))).not.toBe(planHash(planDemo(DEFAULTS)));
  });

  it.each([6, 10, 120, 999])("plans %i orders, of each kind its share and at least one", (orders) => {
    const plan = planDemo({ ...DEFAULTS, orders });

    expect(plan.orders).toHaveLength(orders);
    for (const [kind, share] of Object.entries(SHARES)) {
      const count = countsOf(plan)[kind as Kind] ?? 0;
      expect(count).toBeGreaterThanOrEqual(1);
      if (orders >= 20) expect(Math.abs(count - share * orders)).toBeLessThanOrEqual(1);
    }
  });

  it("shares out all orders", () => {
    expect(Object.values(SHARES).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
  });

  it("plans a single order", () => {
    expect(planDemo({ ...DEFAULTS, orders: 1 }).orders).toHaveLength(1);
  });

  it("lets both tenants use each key, once each", () => {
    const tenantsOf = new Map<string, string[]>();
    for (const { tenant, key } of planDemo(DEFAULTS).orders) {
      tenantsOf.set(key, [...(tenantsOf.get(key) ?? []), tenant]);
    }

    expect(tenantsOf.size).toBe(DEFAULTS.orders / 2);
    for (const tenants of tenantsOf.values()) expect(tenants.toSorted()).toEqual([...TENANTS]);
  });

  it("kills at every point", () => {
    const points = planDemo(DEFAULTS).orders.flatMap(({ behaviour }) =>
      behaviour.kind === "killed" ? [behaviour.killAt] : [],
    );

    expect(new Set(points)).toEqual(new Set(KILL_POINTS));
  });

  it("reuses a key with a body that differs", () => {
    for (const { body, behaviour } of planDemo({ ...DEFAULTS, orders: 999 }).orders) {
      if (behaviour.kind === "reused") expect(behaviour.otherBody).not.toEqual(body);
    }
  });

  it("plans only orders that the service takes", () => {
    for (const { body, behaviour } of planDemo({ ...DEFAULTS, orders: 9999 }).orders) {
      const bodies = behaviour.kind === "reused" ? [body, behaviour.otherBody] : [body];
      for (const { quantity } of bodies) expect(quantity >= 1 && quantity <= 1000).toBe(true);
    }
  });
});
