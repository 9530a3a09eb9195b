// The durable functions of docs/proof/comparison.md: what onceonly promises, and the page's numbers, which the full tier counts again.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inTier } from "../../../../../test/setup/tier.ts";
import { CONTESTANTS } from "../../../show/compare/durable/contestants.ts";
import { type DurableResults, measureDurable, SITUATIONS } from "../../../show/compare/durable/measure.ts";
import { durableSection } from "../../../show/compare/durable/section.ts";
import { SHAPES } from "../../../show/compare/durable/shapes.ts";

const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const known = JSON.parse(text("../../../show/compare/durable/results.json")) as DurableResults;
const OURS = "with onceonly";

function expectNone({ counts }: DurableResults): void {
  const none = { doubled: 0, lost: 0, failed: 0, runs: expect.any(Number) };
  expect(counts[OURS]).toEqual(Object.fromEntries(Object.keys(SITUATIONS).map((name) => [name, none])));
}

describe("the comparison of durable functions", () => {
  it("is the section of the page, with at least 500 crash points, none of which doubles or loses an effect with onceonly", () => {
    expect(text("../../../../../docs/proof/comparison.md")).toContain(durableSection(known));
    expectNone(known);
    for (const [contestant, bySituation] of Object.entries(known.counts)) {
      const { doubled = 0 } = bySituation["it is killed before or after a request"] ?? {};
      expect([contestant, doubled > 0]).toEqual([contestant, contestant !== OURS]);
    }
    const crashes = Object.entries(known.counts[OURS] ?? {}).filter(([name]) => name.includes("killed"));
    expect(crashes.reduce((sum, [, { runs }]) => sum + runs, 0)).toBeGreaterThan(500);
  });

  it("H62: H63: counts the same again", async () => {
    const results = await measureDurable(
      inTier({ contestants: CONTESTANTS.slice(-1), shapes: SHAPES.slice(0, 2), step: 9 }, {}),
    );

    expectNone(results);
    expect(known.requests).toMatchObject(results.requests);
    if (inTier(false, true)) expect(results).toEqual(known);
  }, 900_000);
});
