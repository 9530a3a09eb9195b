import { describe, expect, it } from "vitest";
import { planDemo } from "../../bench/demo/plan.ts";
import { createProgress } from "../../bench/demo/progress.ts";
import { formatTable, formatVerdict, reportRows } from "../../bench/demo/report.ts";
import { honestRun } from "./honest-run.ts";

const plan = planDemo({ orders: 12, duplicates: 2, seed: 3 });
const honest = honestRun(plan);

describe("reportRows", () => {
  it("counts what was seen, not what was planned", () => {
    const counts = Object.fromEntries(reportRows(plan, honest).map(({ name, count }) => [name, count]));
    const answersWith = (status: number) =>
      honest.answers.filter((answer) => answer.status === status).length;

    expect(counts).toEqual({
      requests: honest.requests,
      executions: honest.executions,
      replays: honest.answers.filter(({ replayed }) => replayed).length,
      "409s": answersWith(409),
      "422s": answersWith(422),
      "5xx": answersWith(500),
      "gave up": honest.gaveUp,
      kills: honest.kills.length,
      "lost answers": 3,
      throttles: 1,
      "orders expected": 12,
      "orders found": 12,
    });
    expect(counts["409s"]).toBeGreaterThan(0);
  });

  it("shows an order too many", () => {
    const rows = [...honest.rows, honest.rows[0]!];

    const found = reportRows(plan, { ...honest, rows }).find(({ name }) => name === "orders found");

    expect(found?.count).toBe(13);
  });
});

describe("formatTable", () => {
  it("aligns names to the left and counts to the right", () => {
    const table = formatTable([
      { name: "kills", count: 9, meaning: "a" },
      { name: "requests", count: 512, meaning: "b" },
    ]);

    expect(table).toBe("  kills       9  a\n  requests  512  b");
  });
});

describe("formatVerdict", () => {
  it("says what held", () => {
    expect(formatVerdict(plan, honest, [])).toMatch(
      /^held: one order for each key of each tenant \(12 of 12\)/,
    );
  });

  it("lists what broke, and how much more there is", () => {
    const problems = Array.from({ length: 22 }, (_, index) => `acme key-${index}: expected 1 order, found 2`);

    const lines = formatVerdict(plan, honest, problems).split("\n");

    expect(lines[0]).toBe("broken (22):");
    expect(lines[1]).toBe("  acme key-0: expected 1 order, found 2");
    expect(lines.at(-1)).toBe("  and 2 more");
  });
});

describe("createProgress", () => {
  const state = (done: number) => ({ done, total: 100, requests: 7, kills: 1, lostAnswers: 2, seconds: 9 });

  it("draws one line over and over on a terminal, and clears it in the end", () => {
    const written: string[] = [];
    const progress = createProgress({ isTTY: true, columns: 40, write: (text) => written.push(text) });

    progress.show(state(0));
    progress.show(state(50));
    progress.end();

    expect(written).toHaveLength(3);
    expect(written[1]).toBe("\r\x1b[2K███████████████░░░░░░░░░░░░░░░ 50/100 o");
    expect(written[2]).toBe("\r\x1b[2K");
  });

  it("writes a plain line for each quarter elsewhere", () => {
    const written: string[] = [];
    const progress = createProgress({ write: (text) => written.push(text) });

    for (let done = 0; done <= 100; done++) progress.show(state(done));
    progress.end();

    expect(written).toHaveLength(4);
    expect(written[0]).toBe("25/100 orders, 9 s, 7 requests, 1 kills, 2 lost answers\n");
  });
});
