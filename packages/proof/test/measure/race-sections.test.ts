import { describe, expect, it } from "vitest";
import type { CodeVersions } from "../../measure/code-version.ts";
import { adviceSection } from "../../measure/report/advice-section.ts";
import { aimsSection } from "../../measure/report/aims-section.ts";
import { chart } from "../../measure/report/chart.ts";
import { clientCharts, clientSection } from "../../measure/report/client-section.ts";
import { coldStartSection } from "../../measure/report/cold-start-section.ts";
import { benchmarksDocument } from "../../measure/report/document.ts";
import { engineSection } from "../../measure/report/engine-section.ts";
import type { Results } from "../../measure/report/results.ts";
import type { RaceFigures } from "../../measure/timing/race.ts";

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

  it("shows the median of the runs, each next to the peer's of the same run", () => {
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
  it("shows calls per time and latency next to the peer's", () => {
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
  const CODES = { client: "abc", engine: "abc" } as CodeVersions;
  const of = (node: string) => ({ versions: { "Node.js": node }, figures: RACE });

  it("names the versions once if all sections ran with the same", () => {
    const document = benchmarksDocument(
      { engine: of("20"), client: { ...of("20"), figures: { plain: RACE, http: RACE, tls: RACE } } },
      CODES,
    );

    expect(document).toContain("one run on one engine: Node.js 20.");
    expect(document.match(/^## .*/gm)).toEqual([
      "## What was aimed at",
      "## The client",
      "## On a local engine",
    ]);
  });

  it("names them for each section if a section was renewed later", () => {
    const document = benchmarksDocument(
      { engine: of("22"), client: { ...of("20"), figures: { plain: RACE, http: RACE, tls: RACE } } },
      CODES,
    );

    expect(document).toContain("for client Node.js 20; for engine Node.js 22.");
  });
});

describe("aimsSection", () => {
  it("shows the worst of the figures, whether that is enough, and what was not measured", () => {
    const race = { "onceonly on the lean client": taken(0.5), Powertools: taken(1) };
    const client = { versions: {}, figures: { plain: race, http: RACE, tls: race } };

    const section = aimsSection({ client });

    expect(section).toContain("| first run, the lean client, to the peer | at most × 0.33 | × 0.50 | no |");
    expect(section).toContain("| cold start, lean | at most × 0.45 | not measured | – |");
  });
});

describe("adviceSection", () => {
  const race = {
    "onceonly on the peer's client": taken(0.5),
    "onceonly on the lean client": taken(0.25),
    "onceonly on a client without keep-alive": taken(2),
    Powertools: taken(1),
  };
  const withSdk = { onceonly: [100], "onceonly/lean": [40], Powertools: [100] };
  const withoutSdk = { onceonly: [250], Powertools: [240] };
  const results: Results = {
    client: { versions: {}, figures: { plain: race, http: race, tls: race } },
    bundle: { versions: {}, figures: { imports: {}, functions: { onceonly: 2000, "onceonly/lean": 1000 } } },
    "cold-start": { versions: {}, figures: { 20: { version: "v20.1.0", withSdk, withoutSdk } } },
  };

  it("uses the figures of the sections", () => {
    const section = adviceSection(results);

    expect(section).toContain("2.5 times on Node v20.1.0");
    expect(section).toContain("costs 4.0 times the processor time");
    expect(section).toContain("| onceonly/lean | 553 ms | 138 ms | 69 ms | 40 ms |");
  });

  it("is left out without them", () => {
    expect(adviceSection({ bundle: results.bundle! })).toBe("");
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
