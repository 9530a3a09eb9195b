import { describe, expect, it } from "vitest";
import { planDemo } from "../../../../bench/show/demo/plan.ts";
import { createProgress, type ProgressState } from "../../../../bench/show/demo/progress.ts";
import { formatTable, reportSections } from "../../../../bench/show/demo/report.ts";
import { formatVerdict } from "../../../../bench/show/demo/verdict-lines.ts";
import { honestRun } from "./given.ts";

const plan = planDemo({ orders: 12, duplicates: 2, seed: 3 });
const honest = honestRun(plan);
const sectionsOf = (observation = honest) =>
  Object.fromEntries(
    reportSections(plan, observation).map(({ title, rows }) => [
      title,
      Object.fromEntries(rows.map(({ name, count }) => [name, count])),
    ]),
  );

describe("reportSections", () => {
  it("counts what was seen, not what was planned", () => {
    const answersWith = (status: number) =>
      honest.answers.filter((answer) => answer.status === status).length;
    const happened = (pattern: RegExp) =>
      honest.incidents.filter(({ incident }) => pattern.test(incident)).length;

    expect(sectionsOf()).toEqual({
      orders: {
        requests: honest.requests,
        executed: honest.executions.orders,
        replayed: honest.answers.filter(({ replayed }) => replayed).length,
        "409s": answersWith(409),
        "422s": answersWith(422),
        "5xx": answersWith(500),
        "gave up": happened(/gave up/),
      },
      messages: {
        sent: 12,
        dropped: 0,
        "sent by sweeper": 1,
        delivered: 36,
        executed: 16,
        replayed: 12,
        returned: 12,
        lost: 0,
        redriven: 1,
      },
      disturbances: {
        "order function kills": happened(/^order function killed/),
        "relay kills": happened(/^relay killed/),
        "consumer kills": happened(/^consumer killed/),
        "stream off": happened(/stream was off/),
        "sent twice": happened(/had forgotten/),
        "sent again": happened(/by a producer/),
        overtaken: happened(/while the consumer ran/),
        "gateway down": 10,
        "gateway failed": happened(/^gateway failed/),
        "gateway silent": happened(/^gateway charged/),
        "lost answers": 3,
        "lost receipts": 2,
        throttles: 1,
      },
      "a queue that is not there": { commits: 3, copies: 3, parked: 3, "sent on": 2, redirected: 1 },
      effects: {
        "orders expected": 12,
        "orders found": 12,
        paid: 11,
        declined: 1,
        "payments found": 11,
        "charges found": 11,
      },
    });
    for (const count of Object.values(sectionsOf().disturbances!)) expect(count).toBeGreaterThan(0);
  });

  it("shows an order, a payment and a charge too many", () => {
    const rows = [...honest.rows, honest.rows[0]!];
    const payments = [...honest.payments, honest.payments[0]!];
    const ledger = [...honest.ledger, honest.ledger.find(({ chargeId }) => chargeId)!];

    const { effects } = sectionsOf({ ...honest, rows, payments, ledger });

    expect(effects).toMatchObject({ "orders found": 13, "payments found": 12, "charges found": 12 });
  });
});

describe("formatTable", () => {
  it("aligns names to the left and counts to the right, over all sections", () => {
    const table = formatTable([
      { title: "one", rows: [{ name: "kills", count: 9, meaning: "a" }] },
      { title: "other", rows: [{ name: "requests", count: 512, meaning: "b" }] },
    ]);

    expect(table).toBe("one\n  kills       9  a\nother\n  requests  512  b");
  });
});

describe("formatVerdict", () => {
  it("says what held", () => {
    const lines = formatVerdict(plan, honest, []).split("\n");

    expect(lines[0]).toBe("held: one order for each key of each tenant (12 of 12),");
    expect(lines[2]).toContain(
      "one payment and one charge for each order that is paid (11 of 11), none for the 1",
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
  const state = (answered: number, settled: number, phase: ProgressState["phase"] = "orders") => ({
    phase,
    total: 100,
    answered,
    settled,
    kills: 1,
    lostAnswers: 2,
    seconds: 9,
  });

  it("draws one line over and over on a terminal, and clears it in the end", () => {
    const written: string[] = [];
    const progress = createProgress({ isTTY: true, columns: 40, write: (text) => written.push(text) });

    progress.show(state(0, 0));
    progress.show(state(70, 30));
    progress.end();

    expect(written).toHaveLength(3);
    expect(written[1]).toBe("\r\x1b[2K███████████████░░░░░░░░░░░░░░░ orders: ");
    expect(written[2]).toBe("\r\x1b[2K");
  });

  it("writes a plain line for each phase and each quarter elsewhere", () => {
    const written: string[] = [];
    const progress = createProgress({ write: (text) => written.push(text) });

    for (let done = 0; done <= 100; done++) progress.show(state(done, done));
    progress.show(state(100, 100, "redrive"));
    progress.end();

    expect(written).toHaveLength(6);
    expect(written[1]).toBe("orders: 25/100 ordered, 25 settled, 9 s, 1 kills, 2 lost answers\n");
    expect(written[5]).toMatch(/^redrive: 100/);
  });
});
