import { describe, expect, it } from "vitest";
import type { CodeVersions } from "../../measure/code-version.ts";
import { agesText, ageTable, markedPage } from "../../measure/report/age.ts";
import type { Results } from "../../measure/report/results.ts";

const codes = { bundle: "abc", capacity: "def", growth: "abc" } as CodeVersions;
const sizes = { imports: {}, functions: {} };
const results: Results = {
  bundle: { versions: {}, day: "2026-11-20", code: "abc", busyShare: 0.04, figures: sizes },
  capacity: { versions: {}, figures: [] },
};

describe("the age of figures", () => {
  it("39.2: is a date, the machine's other work, and whether the code has changed since", () => {
    const table = ageTable(["bundle", "capacity", "growth"], results, codes);

    expect(table).toContain("| bundle | 2026-11-20 | 4 % of its processors | unchanged |");
    expect(table).toContain("| capacity | not recorded | – | **has changed since** |");
    expect(table).toContain("| growth | never |  |  |");
  });

  it("39.2: is a number of days in the terminal", () => {
    const text = agesText(
      ["bundle", "capacity", "growth"],
      results,
      codes,
      Date.parse("2026-11-28T12:00:00Z"),
    );

    expect(text.split("\n")).toEqual([
      "bundle      8 days old",
      "capacity    age unknown, older than the code",
      "growth      never measured",
    ]);
  });

  it("39.2: is a note below the heading of a section that is older than the code", () => {
    expect(markedPage("## Bundle\n\nBytes.\n", true)).toMatch(
      /^## Bundle\n\n> These figures are older.*\n\nBytes/,
    );
    expect(markedPage("## Bundle\n\nBytes.\n", false)).toBe("## Bundle\n\nBytes.\n");
  });
});
