// What one copy of the package makes, another copy in the same process uses: all exports, each pair of copies, both ways.

import type { Execution } from "onceonly";
import { beforeAll, describe, expect, it } from "vitest";
import { inTier } from "../setup/tier.ts";
import { BASES, DOORS, FRONTS } from "./doors.ts";
import { driven, meetingOf } from "./exports.ts";
import { type Copy, ENTRIES, KINDS, type Kind, loadCopies } from "./given.ts";

let copies: Readonly<Record<Kind, Copy>>;
beforeAll(async () => {
  copies = await loadCopies();
}, 300_000);

const PAIRS = KINDS.flatMap((one, index) =>
  KINDS.filter((other) => inTier(other === KINDS[(index + 1) % KINDS.length], other !== one)).map(
    (other) => [one, other] as const,
  ),
);

describe.each(PAIRS)("H86: A6: what the %s makes, used by the %s", (one, other) => {
  const maker = () => copies[one];
  const user = () => copies[other];

  it.each(Object.keys(DOORS))("runs once through %s, on each store", async (door) => {
    for (const [name, base] of Object.entries(BASES)) {
      const store = await base(maker(), user());
      let runs = 0;
      const work = (execution: Execution<never> | undefined) => ({
        runs: ++runs,
        keyed: execution?.key === "k1",
      });
      const call = DOORS[door]!(user(), store, work, maker());
      const [first, second] = [await call(), await call()];

      expect(second, name).toEqual(first);
      expect(runs, name).toBe(1);
    }
  });

  it.each(Object.keys(FRONTS))("has %s through each of the other copy's front stores", async (front) => {
    for (const [name, outer] of Object.entries(FRONTS)) {
      if (front === "stores.redacted" && name === "stores.encrypted") continue;
      if (name === "stores.offloaded" && ["stores.encrypted", "stores.redacted"].includes(front)) continue;
      const inner = FRONTS[front]!(maker(), new (user().testing.MemoryStore)() as never);
      const store = outer(user(), inner);
      let runs = 0;
      const call = () =>
        maker().main.runOnce<unknown, never>(
          { operation: "o", store, leaseSeconds: 30 },
          "k1",
          1,
          async ({ step }) => {
            runs += await step("one", () => 1);
            return { runs };
          },
        );

      expect([await call(), await call()], name).toEqual([{ runs: 1 }, { runs: 1 }]);
    }
  });
});

describe("H86: A6: the exports", () => {
  it("have the same names in each copy, and each has a test or a reason", () => {
    for (const entry of ENTRIES) {
      const names = KINDS.map((kind) =>
        Object.keys(copies[kind][entry])
          .filter((name) => name !== "default")
          .sort(),
      );
      expect(names[1], entry).toEqual(names[0]);
      expect(names[2], entry).toEqual(names[0]);
    }
    const all = ENTRIES.flatMap((entry) =>
      Object.keys(copies.commonjs[entry]).map((name) => `${entry}.${name}`),
    );
    expect(all.filter((name) => !name.endsWith(".default") && meetingOf(name) === undefined)).toEqual([]);
    expect(driven.filter((name) => !all.includes(name))).toEqual([]);
    expect(new Set(KINDS.map((kind) => copies[kind].main.runOnce)).size).toBe(3);
  });
});
