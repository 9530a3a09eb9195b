import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { benchmarkCharts, benchmarksDocument, SECTION_NAMES } from "../../measure/report/document.ts";
import type { Results } from "../../measure/report/results.ts";

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
const results: Results = JSON.parse(read("packages/proof/measure/results.json"));

describe("docs/proof/benchmarks.md", () => {
  it("is generated from packages/proof/measure/results.json, every section of it", () => {
    expect(Object.keys(results).sort()).toEqual([...SECTION_NAMES].sort());
    expect(read("docs/proof/benchmarks.md")).toBe(benchmarksDocument(results));
  });

  it("shows the charts generated from it", () => {
    const charts = benchmarkCharts(results);
    const files = readdirSync(new URL("../../../../docs/proof/benchmarks", import.meta.url)).sort();

    expect(files).toEqual(Object.keys(charts).sort());
    for (const file of files) expect(read(`docs/proof/benchmarks/${file}`)).toBe(charts[file]);
  });
});
