// Nothing of a chart covers something else, or stands outside of it.
import { describe, expect, it } from "vitest";
import { chart } from "../../measure/report/chart.ts";

const LONG = "onceonly on the peer's client, through its `send`, with the claim it once made";
const bars = [
  { name: "short", value: 0.95 },
  { name: LONG, value: 1.2 },
  { name: "nothing", value: Number.NaN },
];
const svg = chart("Time", [{ name: "1 caller", bars }], { mark: 1, show: (value) => `× ${value}` });

describe("chart", () => {
  it("has room for the longest label", () => {
    const [, x, label = ""] = /x="(\d+)"[^>]*class="label"[^>]*>(onceonly[^<]*)</.exec(svg) ?? [];

    expect(label).toBe(LONG.replaceAll("`", ""));
    expect(Number(x)).toBeGreaterThan(label.length * 6);
  });

  it("shows figures in a column that neither bars nor the mark reach", () => {
    const columns = [...svg.matchAll(/<text x="([\d.]+)"[^>]*class="figure"/g)].map(([, x]) => Number(x));
    const ends = [...svg.matchAll(/<rect x="(\d+)" y="\d+" width="(\d+)"/g)].map(
      ([, x, width]) => Number(x) + Number(width),
    );
    const mark = Number(/x1="(\d+)"/.exec(svg)?.[1]);

    expect(new Set(columns).size).toBe(1);
    expect(Math.max(mark, ...ends)).toBeLessThanOrEqual(columns[0]! - 60);
  });

  it("draws no bar for what was not measured", () => {
    expect(svg).toContain('width="0"');
    expect(svg).not.toContain('width="NaN"');
  });
});
