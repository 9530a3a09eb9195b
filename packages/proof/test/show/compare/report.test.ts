import { describe, expect, it } from "vitest";
import type { Observation } from "../../../show/compare/compare.ts";
import { comparisonDocument } from "../../../show/compare/report.ts";
import {
  answered,
  happensOnce,
  refused,
  type Scenario,
  sameAnswers,
} from "../../../show/compare/scenario.ts";
import { scenarioSection } from "../../../show/compare/scenario-section.ts";
import { answerInWords, errorInWords, type Seen } from "../../../show/compare/seen.ts";

const scenario: Scenario = {
  name: "retry",
  hazards: ["H8"],
  title: "A retry, at once",
  deed: "A call, and the same one again.",
  calls: ["first call", "retry"],
  run: async () => seen(1),
  wishes: [happensOnce, sameAnswers("the retry gets the first answer", 0, 1)],
};

const seen = (effects: number, ...answers: string[]): Seen => ({ effects, answers });
const observation = (
  name: Observation["package"],
  adapter: Observation["adapter"],
  own: Seen,
): Observation => ({
  package: name,
  adapter,
  seen: own,
});

const good = seen(1, "order 1", "order 1");
const bad = seen(2, "order 1", "throws TypeError");
const observed = {
  scenario,
  observations: [
    observation("onceonly", "wrapper", good),
    observation("onceonly", "middleware", good),
    observation("Powertools", "wrapper", good),
    observation("Powertools", "middleware", bad),
  ],
};

describe("scenarioSection", () => {
  it("has one column for both adapters if they behave the same, and one for each if they don't", () => {
    const lines = scenarioSection(observed).split("\n");

    expect(lines).toContain("|  | onceonly | Powertools, wrapper | Powertools, middleware |");
    expect(lines).toContain("| effects | 1 | 1 | 2 |");
    expect(lines).toContain("| retry | order 1 | order 1 | `throws TypeError` |");
    expect(lines).toContain("| *the retry gets the first answer* | yes | yes | **no** |");
  });
});

describe("comparisonDocument", () => {
  const document = comparisonDocument({
    versions: { onceonly: "1.0.0" },
    groups: { "Lost answers": [observed] },
    costs: [
      {
        path: "first run",
        onceonly: { requests: 3, writeUnits: 33, readUnits: 0 },
        powertools: { requests: 2, writeUnits: 42, readUnits: 0 },
      },
    ],
    smallerBundles: { gzipped: "Powertools" },
    durable: { counts: {}, requests: {} },
  });

  it("counts the wishes of every contestant in a row that links to the scenario", () => {
    expect(document).toContain(
      "| [H8: A retry, at once](#h8-a-retry-at-once) | 1 · 2 of 2 | 1 · 2 of 2 | 1 · 2 of 2 | 2 · 0 of 2 |",
    );
  });

  it("compares adapter with adapter", () => {
    expect(document).toContain("wrapper against wrapper: equally many wishes were met in 1 scenarios");
    expect(document).toContain(
      "middleware against middleware: equally many wishes were met in 0 scenarios, more with onceonly in 1",
    );
  });

  it("states plainly when the peer needs fewer", () => {
    expect(document).toContain("| first run | fewer with Powertools | fewer with onceonly | equal |");
    expect(document).toContain("| gzipped | Powertools |");
  });
});

describe("a wish", () => {
  it("counts an error, a status of 4xx or 5xx, and a missing response as no answer", () => {
    for (const answer of ["throws TypeError", "422", "503", "–", undefined]) {
      const own = { effects: 1, answers: answer === undefined ? [] : [answer, answer] };
      expect(answered("", 0).holds(own), answer).toBe(false);
      expect(refused("", 0).holds(own), answer).toBe(true);
      expect(sameAnswers("", 0, 1).holds(own), answer).toBe(false);
    }
    expect(answered("", 0).holds(seen(1, "201 order 1"))).toBe(true);
  });
});

describe("answerInWords", () => {
  it.each([
    [{ order: 1 }, "order 1"],
    [{ statusCode: 201, body: '{"order":2}' }, "201 order 2"],
    [{ statusCode: 422, body: '{"code":"FINGERPRINT_MISMATCH"}' }, "422"],
    [undefined, "undefined"],
  ])("shows what a caller got: %j", (answer, words) => {
    expect(answerInWords(answer)).toBe(words);
  });

  it("shows the name of an error", () => {
    expect(errorInWords(new RangeError("too deep"))).toBe("throws RangeError");
    expect(errorInWords("gone")).toBe("throws gone");
  });
});
