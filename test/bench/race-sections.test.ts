import { describe, expect, it } from "vitest";
import { chart } from "../../bench/report/chart.ts";
import { clientCharts, clientSection } from "../../bench/report/client-section.ts";
import { coldStartSection } from "../../bench/report/cold-start-section.ts";
import { benchmarksDocument } from "../../bench/report/document.ts";
import { engineSection } from "../../bench/report/engine-section.ts";
import type { RaceFigures } from "../../bench/timing/race.ts";

/** The same for every number of callers; a sample for each run. */
const taken = (...cpuMs: number[]) => {
  const samples = cpuMs.map((ms) => ({
    cpuMs: ms,
    heapKb: 100 * ms,
    latencyMs: ms,
    callsPerSecond: 1000 / ms,
  }));
  const each = { 1: samples, 16: samples, 64: samples };
  return { firstRun: each, replay: each };
};

const RACE: RaceFigures = { onceonly: taken(0.5, 2, 3), Powertools: taken(1, 2, 4) };

describe("clientSection", () => {
  const figures = { plain: RACE, http: RACE, tls: RACE };

  it("shows the median of the runs, each beside the peer's of the same run", () => {
    const row = (value: string) => `| ${Array(6).fill(value).join(" | ")} |`;

    expect(clientSection(figures)).toContain(`| onceonly ${row("× 0.75")}\n| Powertools ${row("× 1.00")}`);
    expect(clientSection(figures)).toContain(`| onceonly ${row("200")}`);
  });

  it("has the charts that it links to", () => {
    const linked = Array.from(clientSection(figures).matchAll(/\(benchmarks\/(.*?)\)/g), ([, file]) => file);

    expect(linked).toEqual(Object.keys(clientCharts(figures)));
  });
});

describe("engineSection", () => {
  it("shows calls per time and latency beside the peer's", () => {
    expect(engineSection(RACE)).toContain("| onceonly | × 1.33 |");
    expect(engineSection(RACE)).toContain("| onceonly | × 0.75 |");
  });
});

describe("coldStartSection", () => {
  it("shows the median of the pairs, and which Node there was not", () => {
    const starts = { onceonly: [100, 90, 110], Powertools: [100, 100, 100] };
    const section = coldStartSection({
      20: { version: "v20.1.0", withSdk: starts, withoutSdk: starts },
      22: { absent: "Node 22 could not be installed" },
    });

    expect(section).toContain("|  | Node v20.1.0 |\n| --- | --: |\n| onceonly | 100 ms (× 1.00) |");
    expect(section).toContain("- Not measured: Node 22 could not be installed.");
  });
});

describe("benchmarksDocument", () => {
  const of = (node: string) => ({ versions: { "Node.js": node }, figures: RACE });

  it("names the versions once where all sections ran with the same", () => {
    const document = benchmarksDocument({
      engine: of("20"),
      client: { ...of("20"), figures: { plain: RACE, http: RACE, tls: RACE } },
    });

    expect(document).toContain("one run on one engine: Node.js 20.");
    expect(document.match(/^## .*/gm)).toEqual(["## The client", "## On a local engine"]);
  });

  it("names them for each section where a section was renewed later", () => {
    const document = benchmarksDocument({
      engine: of("22"),
      client: { ...of("20"), figures: { plain: RACE, http: RACE, tls: RACE } },
    });

    expect(document).toContain("for client Node.js 20; for engine Node.js 22.");
  });
});

describe("chart", () => {
  const groups = [
    {
      name: "1 caller",
      bars: [
        { name: 'a & "b"', value: 0.5 },
        { name: "none", value: Number.NaN },
      ],
    },
  ];

  it("is the same for the same figures, escapes names, and is read on dark pages", () => {
    const svg = chart("<Time>", groups, { mark: 1, show: (value) => `× ${value}` });

    expect(chart("<Time>", groups, { mark: 1, show: (value) => `× ${value}` })).toBe(svg);
    expect(svg).toContain("&lt;Time&gt;");
    expect(svg).toContain("a &amp; &quot;b&quot;");
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).toContain('width="0"');
  });
});
