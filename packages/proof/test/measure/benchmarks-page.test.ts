import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { codeVersions } from "../../measure/code-version.ts";
import { benchmarkCharts, benchmarksDocument, SECTION_NAMES } from "../../measure/report/document.ts";
import { isGrowing, REASONS } from "../../measure/report/growth-section.ts";
import type { Results } from "../../measure/report/results.ts";
import { sizeSection } from "../../measure/report/size-section.ts";
import { measureSizes } from "../../measure/size/sizes.ts";

const pathOf = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const results: Results = JSON.parse(readFileSync(pathOf("packages/proof/measure/results.json"), "utf8"));

describe("docs/proof/benchmarks.md", () => {
  it("39.2: is generated from packages/proof/measure/results.json, and marks what is older than the code", async () => {
    expect(SECTION_NAMES).toEqual(expect.arrayContaining(Object.keys(results)));
    await expect(benchmarksDocument(results, await codeVersions())).toMatchFileSnapshot(
      pathOf("docs/proof/benchmarks.md"),
    );
  });

  it("shows the charts generated from it", async () => {
    const charts = benchmarkCharts(results);

    expect(readdirSync(pathOf("docs/proof/benchmarks")).sort()).toEqual(Object.keys(charts).sort());
    for (const [file, svg] of Object.entries(charts))
      await expect(svg).toMatchFileSnapshot(pathOf(`docs/proof/benchmarks/${file}`));
  });

  it("39.2: shows the sizes of the present code (`npm run bench -- bundle` writes them)", async () => {
    const { figures } = results.bundle ?? {};

    expect(figures && sizeSection(figures)).toBe(sizeSection(await measureSizes()));
  });

  it("39.2: says why a cost grows faster than its work", () => {
    const growing = (results.growth?.figures ?? []).flatMap(({ series }) => series.filter(isGrowing));

    for (const { cost } of growing) expect(REASONS[cost], cost).toBeDefined();
  });
});
