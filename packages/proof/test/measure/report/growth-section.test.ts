import { describe, expect, it } from "vitest";
import { growthOf } from "../../../measure/growth/series.ts";
import { growthCharts, growthSection } from "../../../measure/report/growth-section.ts";

describe("growth", () => {
  it("39.2: is the cost of a unit at each size, up to the largest size of the run", async () => {
    const grown = await growthOf("rows", [10, 100, 1000], 100, async (size) => ({
      "blocks per row": size / 10,
    }));

    expect(grown).toEqual({
      of: "rows",
      sizes: [10, 100, 1000],
      series: [{ cost: "blocks per row", values: [1, 10, null] }],
    });
  });

  it("39.2: names what grows faster than its work, and why", () => {
    const figures = [
      {
        of: "steps",
        sizes: [1, 10, 100],
        series: [
          { cost: "units per step", values: [3, 4.5, null] },
          { cost: "requests per step", values: [1, 1, null] },
        ],
      },
    ];

    const section = growthSection(figures);

    expect(section).toContain("| steps: | 1 | 10 | 100 |");
    expect(section).toContain("| units per step | 3 | 4.5 | not run |");
    expect(section).toContain(
      "- **units per step** (steps): × 1.5, the marks of all steps of an operation share one item",
    );
    expect(section).not.toContain("**requests per step**");
    expect(growthCharts(figures)["growth.svg"]).toContain("requests per step");
    expect(growthSection([])).toContain("Nothing grows faster than its work.");
  });
});
