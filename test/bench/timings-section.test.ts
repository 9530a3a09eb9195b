import { describe, expect, it } from "vitest";
import { timingsSection } from "../../bench/report/timings-section.ts";
import type { Speed } from "../../bench/timing/speed.ts";

const speed = (latency: number, throughput: number): Speed => {
  const pace = { latency, throughput };
  return { firstRun: { 1: pace, 16: pace, 64: pace }, replay: { 1: pace, 16: pace, 64: pace } };
};

describe("timingsSection", () => {
  const section = timingsSection({
    importMs: { onceonly: 3, powertools: 2.5 },
    speeds: { "bare handler": speed(1, 1), onceonly: speed(3, 0.3), Powertools: speed(2, 0.4) },
  });

  it("shows each figure as a multiple of the bare handler's, and in brackets of the peer's", () => {
    expect(section).toContain("| onceonly | × 3.0 (× 1.5) | × 3.0 (× 1.5) | × 3.0 (× 1.5) |");
    expect(section).toContain("| onceonly | × 0.30 (× 0.75) | × 0.30 (× 0.75) | × 0.30 (× 0.75) |");
    expect(section).toContain("| Powertools | × 2.0 (× 1.0) |");
  });

  it("is one section of the document", () => {
    expect(section.match(/^## .*/gm)).toEqual(["## Timings"]);
  });
});
