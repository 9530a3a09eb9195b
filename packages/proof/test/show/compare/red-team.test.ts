// The scenarios of docs/proof/comparison.md on each engine of the tier. onceonly's results are asserted; Powertools' results are only
// recorded: docs/proof/comparison.md must show what both do now.
import { readFileSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import { compare, type Observation, observe } from "../../../show/compare/compare.ts";
import { comparisonDocument } from "../../../show/compare/report.ts";
import type { Scenario } from "../../../show/compare/scenario.ts";
import { SCENARIOS } from "../../../show/compare/scenarios.ts";
import { EXPECTED } from "./cases/expected.ts";

const ALL = Object.values(SCENARIOS).flat();
const DOCUMENT = new URL("../../../../../docs/proof/comparison.md", import.meta.url);

describe.each(inject("dynamodbEngines"))("the red team on $name", ({ endpoint }) => {
  const known = new Map<Scenario, Promise<readonly Observation[]>>();

  /** Runs a scenario once, even if several tests need it. */
  function observed(scenario: Scenario): Promise<readonly Observation[]> {
    const observations = known.get(scenario) ?? observe(scenario, endpoint);
    known.set(scenario, observations);
    return observations;
  }

  const rows = ALL.map((scenario) => ({ scenario, title: EXPECTED[scenario.name]?.title ?? scenario.name }));

  it.each(rows)("$title", async ({ scenario }) => {
    const expected = EXPECTED[scenario.name]?.seen;

    const own = (await observed(scenario)).filter((observation) => observation.package === "onceonly");

    expect(own.map(({ adapter }) => adapter)).toEqual(["wrapper", "middleware"]);
    for (const { adapter, seen } of own) {
      expect(seen.answers).toHaveLength(scenario.calls.length);
      expect(seen, adapter).toEqual(
        expected !== undefined && adapter in expected ? Reflect.get(expected, adapter) : expected,
      );
    }
  });

  it("docs/proof/comparison.md is what is seen now; `npm run compare` writes it", {
    timeout: 120_000,
  }, async () => {
    expect(comparisonDocument(await compare(endpoint, observed))).toBe(readFileSync(DOCUMENT, "utf8"));
  });
});

describe("SCENARIOS", () => {
  it("have different names, and an expectation each", () => {
    expect(ALL.map(({ name }) => name).sort()).toEqual(Object.keys(EXPECTED).sort());
  });
});
