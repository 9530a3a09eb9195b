import { describe, expect, it } from "vitest";
import { nameOf } from "../../../show/demo/seen.ts";
import { isDeclined, planLoad } from "../../../show/load/plan-load.ts";

const SIZES = { orders: 40, duplicates: 3, hot: 20, seed: 1 };

describe("planLoad", () => {
  it("plans the same for the same seed and sizes, and other keys for any other", () => {
    const keyOf = (sizes: typeof SIZES) => planLoad(sizes).orders[0]?.key;

    expect(planLoad(SIZES)).toEqual(planLoad({ ...SIZES }));
    const keys = [SIZES, { ...SIZES, seed: 2 }, { ...SIZES, hot: 10 }, { ...SIZES, orders: 41 }].map(keyOf);
    expect(new Set(keys).size).toBe(4);
  });

  it("gives both tenants the same keys", () => {
    const { orders } = planLoad(SIZES);
    const keysOf = (wanted: string) => orders.filter(({ tenant }) => tenant === wanted).map(({ key }) => key);

    expect(keysOf("acme")).toHaveLength(20);
    expect(keysOf("globex")).toEqual(keysOf("acme"));
  });

  it("requests each order as often as configured, half of the duplicates with the first request", () => {
    const { orders, asks } = planLoad({ ...SIZES, hot: 0 });

    for (const order of orders) {
      const places = asks.flatMap((ask, place) =>
        ask.order === order && ask.asked === "order" ? [place] : [],
      );
      expect(places).toHaveLength(4);
      expect(places[2]! - places[0]!).toBe(2);
    }
    const later = asks.findLastIndex(({ order, asked }) => order === orders[0] && asked === "order");
    expect(later).toBeGreaterThan(3);
  });

  it("asks for one key in the given share of all requests", () => {
    const { orders, asks } = planLoad({ ...SIZES, hot: 50 });
    const hot = asks.filter(({ order }) => order === orders[0]).length;

    expect(hot / asks.length).toBeGreaterThan(0.5);
    expect(hot / asks.length).toBeLessThan(0.55);
  });

  it("reuses some keys for another body, after their order, and has some cards declined", () => {
    const { orders, asks } = planLoad(SIZES);
    const others = asks.filter(({ asked }) => asked === "other-body");

    expect(others).toHaveLength(8);
    for (const other of others) {
      const first = asks.findIndex(({ order }) => nameOf(order) === nameOf(other.order));
      expect(asks.indexOf(other)).toBeGreaterThan(first);
    }
    expect(orders.filter(isDeclined)).toHaveLength(2);
  });

  it("plans a single order", () => {
    expect(planLoad({ orders: 1, duplicates: 0, hot: 0, seed: 1 }).asks).toHaveLength(2);
  });
});
