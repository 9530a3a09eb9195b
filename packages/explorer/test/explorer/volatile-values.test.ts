import { describe, expect, it } from "vitest";
import type { Plain } from "../../lib/explorer/plain-value.ts";
import { VolatileValues } from "../../lib/explorer/volatile-values.ts";

const rows = (...contents: Plain[]) => contents.map((content) => ({ place: "item orders", content }));

describe("VolatileValues", () => {
  it("masks values that differ, wherever they are nested", () => {
    const volatile = new VolatileValues(
      rows({ id: 1, lines: [{ sku: "a", at: 10 }] }),
      rows({ id: 1, lines: [{ sku: "a", at: 11 }] }),
    );

    const [row] = rows({ id: 1, lines: [{ sku: "a", at: 99 }] });
    expect(volatile.mask(row!)).toEqual({ id: 1, lines: [{ sku: "a", at: "…" }] });
  });

  it("keeps, at one path, the values that both runs have", () => {
    const volatile = new VolatileValues(
      rows({ sk: "stock" }, { sk: "order-x" }),
      rows({ sk: "stock" }, { sk: "order-y" }),
    );

    expect(rows({ sk: "stock" }, { sk: "order-z" }).map((row) => volatile.mask(row))).toEqual([
      { sk: "stock" },
      { sk: "…" },
    ]);
  });

  it("learns nothing about another place", () => {
    const volatile = new VolatileValues(rows({ id: 1 }), rows({ id: 2 }));

    expect(volatile.mask({ place: "item payments", content: { id: 3 } })).toEqual({ id: 3 });
  });

  it("names what it masks, by place", () => {
    const volatile = new VolatileValues(rows({ id: 1, at: 1, n: 5 }), rows({ id: 2, at: 2, n: 5 }));

    expect(volatile.names).toEqual(["id, at of item orders"]);
  });

  it("masks attributes that are to be ignored, by name", () => {
    const volatile = new VolatileValues([], [], ["attempt"]);

    const [row] = rows({ id: 1, meta: { attempt: 2 } });
    expect(volatile.mask(row!)).toEqual({ id: 1, meta: { attempt: "…" } });
  });
});
