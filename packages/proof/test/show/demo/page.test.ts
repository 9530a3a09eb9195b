import { describe, expect, it } from "vitest";
import { demoPage, recordingProgress } from "../../../show/demo/page.ts";
import type { ColumnState } from "../../../show/demo/progress.ts";

const state = (change: Partial<ColumnState>): ColumnState => ({
  column: "with onceonly",
  phase: "orders",
  total: 10,
  answered: 0,
  settled: 0,
  kills: 0,
  lostAnswers: 0,
  seconds: 0,
  ...change,
});

function recorded() {
  let now = 5000;
  const shown: ColumnState[] = [];
  const nothing = () => {};
  const given = { prepare: nothing, end: nothing, show: (each: ColumnState) => void shown.push(each) };
  const { samples, progress } = recordingProgress(given, () => now);
  const show = (change: Partial<ColumnState>, afterMs: number) => {
    now += afterMs;
    progress.show(state(change));
  };
  return { samples, show, shown };
}

describe("the page of a run", () => {
  it("has a timeline for each column: its phases, what was done by then, and each kill", () => {
    const { samples, show, shown } = recorded();
    show({}, 0);
    show({ kills: 1, answered: 5 }, 1000);
    show({ phase: "redrive", kills: 3, answered: 10, settled: 10 }, 1000);
    show({ column: "without onceonly", kills: 1 }, 500);

    const page = demoPage({ heading: "3 orders", samples, texts: ["<held>"] });

    const [ours = "", theirs = ""] = page.match(/<svg .*?<\/svg>/gs) ?? [];
    expect(ours.match(/class="cross"/g)).toHaveLength(2);
    expect(theirs.match(/class="cross"/g)).toHaveLength(1);
    expect(ours).toMatch(/>orders<.*>redrive</s);
    expect(ours).toContain('<polyline class="answered" points="110,290 550,180 990,70"/>');
    expect(ours).toContain('<polyline class="settled" points="110,290 550,290 990,70"/>');
    expect(ours).toContain("3 kills");
    expect(page).toContain("<pre>&#60;held&#62;</pre>");
    expect(shown).toHaveLength(4);
  });
});
