import { describe, expect, it } from "vitest";
import type { PartFigures } from "../../../measure/batch/compare-batches.ts";
import type { TrialResult } from "../../../measure/batch/trial.ts";
import { batchSection } from "../../../measure/report/batch-section.ts";

const result = (more: Partial<TrialResult>): TrialResult => ({
  requests: 18_300,
  writeUnits: 42_300,
  readUnits: 0,
  doubled: 0,
  missing: 0,
  deliveries: 10_300,
  crashes: 0,
  lostAnswers: 0,
  sectionMs: [10, 10, 10],
  batchMs: 119,
  ...more,
});

const part = (own: Partial<TrialResult>, peer: Partial<TrialResult>): PartFigures => ({
  sections: 3,
  messages: 10_000,
  orders: 8000,
  places: { sameBatch: 700, nextBatches: 650, later: 650 },
  results: { onceonly: result(own), Powertools: result(peer) },
});

const FIGURES = {
  concurrency: 4,
  withoutFaults: part({}, { sectionMs: [12, 90, 8] }),
  withCrashes: part({ crashes: 26 }, { crashes: 27, doubled: 86 }),
  withLostAnswers: part({ lostAnswers: 70 }, { lostAnswers: 98, missing: 1 }),
};

describe("batchSection", () => {
  it("shows the throughput as the median of the ratios to the peer", () => {
    expect(batchSection(FIGURES)).toContain(
      "| onceonly | 10,300 | 18,300 | 42,300 | 0 | 0 | 0 | × 1.2 |\n| Powertools | 10,300 | 18,300 | 42,300 | 0 | 0 | 0 | × 1.0 |",
    );
  });

  it("shows what went wrong and the results", () => {
    const section = batchSection(FIGURES);

    expect(section).toContain("| Powertools | 27 | 10,300 | 18,300 | 42,300 | 0 | 86 | 0 |");
    expect(section).toContain("| Powertools | 98 | 10,300 | 18,300 | 42,300 | 0 | 0 | 1 |");
  });

  it("shows the wall time of batches of 100, once it was measured", () => {
    const ofHundred = part({ batchMs: 71.4, requests: 21_000, deliveries: 10_000 }, {});

    expect(batchSection(FIGURES)).not.toContain("Batches of 100");
    expect(batchSection({ ...FIGURES, ofHundred })).toContain("| onceonly | 2.10 | 71 ms | × 0.60 | 0 | 0 |");
  });

  it("is one section of the document", () => {
    expect(batchSection(FIGURES).match(/^## .*/gm)).toEqual(["## Batches of messages"]);
  });
});
