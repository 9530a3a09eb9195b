import { describe, expect, it } from "vitest";
import { DISPATCH_SHARES, RELAY_KILL_POINTS } from "../../../show/demo/dispatch-plan.ts";
import { DEFAULTS } from "../../../show/demo/options.ts";
import { KILL_POINTS, ORDER_SHARES } from "../../../show/demo/order-plan.ts";
import { PAYMENT_SHARES } from "../../../show/demo/payment-plan.ts";
import { type PlannedOrder, planDemo, planHash } from "../../../show/demo/plan.ts";
import { TENANTS } from "../../../show/demo/tenants.ts";

const large = planDemo({ ...DEFAULTS, orders: 999 }).orders;
const countBy = (orders: readonly PlannedOrder[], kindOf: (order: PlannedOrder) => string) => {
  const counts: Record<string, number> = {};
  for (const order of orders) counts[kindOf(order)] = (counts[kindOf(order)] ?? 0) + 1;
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

  it.each([9, 12, 120, 999])(
    "plans %i orders, each kind of order, payment and dispatch among them",
    (count) => {
      const { orders } = planDemo({ ...DEFAULTS, orders: count });

      expect(orders).toHaveLength(count);
      expect(countBy(orders, ({ behaviour }) => behaviour.kind)).toEqual(
        expect.objectContaining(mapOf(ORDER_SHARES)),
      );
      expect(countBy(orders, ({ payment }) => payment.kind)).toEqual(
        expect.objectContaining(mapOf(PAYMENT_SHARES)),
      );
      expect(countBy(orders, ({ dispatch }) => dispatch.kind)).toEqual(
        expect.objectContaining(mapOf(DISPATCH_SHARES)),
      );
    },
  );

  it.each([
    ["orders", ORDER_SHARES],
    ["payments", PAYMENT_SHARES],
    ["dispatches", DISPATCH_SHARES],
  ])("shares out all %s", (_, shares) => {
    expect(Object.values(shares).reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 10);
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

  it.each([16, 120])("has every kind, and kills at every point, in %i orders of any seed", (count) => {
    for (let seed = 0; seed < 100; seed++) {
      const { orders } = planDemo({ orders: count, duplicates: 2, seed });
      const found = (subject: "behaviour" | "payment" | "dispatch") => {
        const planned = orders.map(({ [subject]: each }) => each);
        return {
          kinds: new Set(planned.map(({ kind }) => kind)),
          points: new Set(planned.flatMap((each) => ("killAt" in each ? [each.killAt] : []))),
        };
      };
      const all = (shares: object, points: readonly string[]) => ({
        kinds: new Set(Object.keys(shares)),
        points: new Set(points),
      });

      expect(found("behaviour")).toEqual(all(ORDER_SHARES, KILL_POINTS));
      expect(found("payment")).toEqual(all(PAYMENT_SHARES, KILL_POINTS));
      expect(found("dispatch")).toEqual(all(DISPATCH_SHARES, RELAY_KILL_POINTS));
    }
  });

  it("leaves orders that wait for the lease of a killed process out of outages", () => {
    const killed = large.filter(({ behaviour, payment }) =>
      [behaviour.kind, payment.kind].includes("killed"),
    );

    expect(killed.length).toBeGreaterThan(0);
    expect(new Set(killed.map(({ dispatch }) => dispatch.kind))).toEqual(new Set(["relayed"]));
  });

  it("reuses a key with a body that differs", () => {
    for (const { body, behaviour } of large) {
      if (behaviour.kind === "reused") expect(behaviour.otherBody).not.toEqual(body);
    }
  });

  it("plans only orders that the service accepts", () => {
    for (const { body, behaviour } of large) {
      const bodies = behaviour.kind === "reused" ? [body, behaviour.otherBody] : [body];
      for (const { quantity } of bodies) expect(quantity >= 1 && quantity <= 1000).toBe(true);
    }
  });

  it("gives exactly those a card that is declined whose payment is to be declined", () => {
    for (const { body, payment } of large) {
      expect(body.card === "card_declined").toBe(payment.kind === "declined");
    }
  });
});

function mapOf(shares: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(shares).map((kind) => [kind, expect.any(Number)]));
}
