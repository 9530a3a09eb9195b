import { describe, expect, it } from "vitest";
import { lookOn } from "../../../show/demo/look.ts";
import { planDemo } from "../../../show/demo/plan.ts";
import { type ColumnState, createProgress } from "../../../show/demo/progress.ts";
import { reportSections } from "../../../show/demo/report.ts";
import { formatVerdict } from "../../../show/demo/verdict-lines.ts";
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
        "in progress": answersWith(409),
        mismatch: answersWith(422),
        unavailable: answersWith(500),
        disconnected: happened(/gave up/),
      },
      messages: {
        sent: 12,
        duplicates: 0,
        "sent by sweeper": 1,
        delivered: 36,
        executed: 16,
        replayed: 12,
        returned: 12,
        interrupted: 0,
        redriven: 1,
      },
      "done to the service on purpose": {
        "order function kills": happened(/^order function killed/),
        "relay kills": happened(/^relay killed/),
        "consumer kills": happened(/^consumer killed/),
        "stream off": happened(/stream was off/),
        "sent twice": happened(/had forgotten/),
        "sent again": happened(/by a producer/),
        overlapping: happened(/while the consumer ran/),
        "gateway down": 10,
        "gateway errors": happened(/^gateway failed/),
        "gateway silent": happened(/^gateway charged/),
        "responses cut off": 3,
        "sends unconfirmed": 2,
        throttles: 1,
      },
      "messages for a queue that does not exist yet, on purpose": {
        commits: 3,
        copies: 3,
        parked: 3,
        "sent again": 2,
        redirected: 1,
      },
      effects: {
        "orders expected": 12,
        "orders found": 12,
        "ordered twice": 0,
        "answered twice": 0,
        paid: 11,
        declined: 1,
        "never settled": 0,
        "payments found": 11,
        "charges found": 11,
        "charged twice": 0,
      },
      "orders of another service, each by one saga": {
        sagas: plan.sagas.length,
        "saga requests": 2 * plan.sagas.length,
        "saga attempts": 21,
        "saga kills": 16,
        held: 1,
        asked: 2,
        reconciled: 1,
        placed: 12,
        canceled: 7,
        charged: 18,
        refunded: 6,
        shipped: 12,
        reserved: honest.sagas.reserved,
      },
    });
    for (const count of Object.values(sectionsOf()["done to the service on purpose"]!))
      expect(count).toBeGreaterThan(0);
  });

  it("shows an order, a payment and a charge too many", () => {
    const rows = [...honest.rows, honest.rows[0]!];
    const payments = [...honest.payments, honest.payments[0]!];
    const ledger = [...honest.ledger, honest.ledger.find(({ chargeId }) => chargeId)!];

    const { effects } = sectionsOf({ ...honest, rows, payments, ledger });

    expect(effects).toMatchObject({ "orders found": 13, "payments found": 12, "charges found": 12 });
    expect(effects).toMatchObject({ "ordered twice": 1, "charged twice": 1 });
  });

  it("has a right count for each effect, which an honest run reaches", () => {
    const rows = reportSections(plan, honest).flatMap((section) => section.rows);
    const judged = rows.filter(({ due }) => due !== undefined);

    expect(judged.length).toBeGreaterThan(8);
    expect(judged.filter(({ count, due }) => count !== due)).toEqual([]);
  });

  it("uses no word for a deliberate disturbance that reads like a failure", () => {
    const texts = reportSections(plan, honest).flatMap(({ title, rows }) => [
      title,
      ...rows.flatMap(({ name, meaning }) => [name, meaning]),
    ]);

    expect(texts.filter((text) => /\b(lost|failed|dropped|error|broken|gave up)\b/i.test(text))).toEqual([]);
  });
});

describe("formatVerdict", () => {
  it("shows what held", () => {
    const lines = formatVerdict(plan, honest, []).split("\n");

    expect(lines[0]).toBe("held: one order per key and tenant (12 of 12),");
    expect(lines[2]).toContain("one payment and one charge per paid order (11 of 11), none for the 1");
  });

  it("lists what broke, and how much more there is", () => {
    const problems = Array.from({ length: 22 }, (_, index) => `acme key-${index}: expected 1 order, found 2`);

    const lines = formatVerdict(plan, honest, problems).split("\n");

    expect(lines[0]).toBe("broken (22):");
    expect(lines[1]).toBe("  acme key-0: expected 1 order, found 2");
    expect(lines.at(-1)).toBe("  and 2 more");
  });

  it("begins with a mark on a terminal only", () => {
    const look = lookOn({ isTTY: true }, {});

    const held = formatVerdict(plan, honest, [], look);
    expect(held.startsWith("\x1b[32m✓\x1b[39m held: ")).toBe(true);
    expect(formatVerdict(plan, honest, ["a"], look)).toBe("\x1b[31m✗\x1b[39m broken (1):\n  a");
  });
});

describe("createProgress", () => {
  const state = (
    answered: number,
    settled: number,
    phase: ColumnState["phase"] = "orders",
    column: ColumnState["column"] = "with onceonly",
  ) => ({
    column,
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
    expect(written[1]).toBe("\r\x1b[2K██████████░░░░░░░░░░ with onceonly, ord");
    expect(written[2]).toBe("\r\x1b[2K");
  });

  it("writes a plain line for each phase and each quarter elsewhere", () => {
    const written: string[] = [];
    const progress = createProgress({ write: (text) => written.push(text) });

    for (let done = 0; done <= 100; done++) progress.show(state(done, done));
    progress.show(state(100, 100, "redrive"));
    progress.end();

    expect(written).toHaveLength(6);
    expect(written[1]).toBe(
      "with onceonly, orders: 25 of 100 answered, 25 settled, 9 s, kills: 1, answers cut off: 2\n",
    );
    expect(written[5]).toMatch(/^with onceonly, redrive: 100/);
  });

  it("shows immediately what it does before there are orders", () => {
    const [onTerminal, elsewhere]: [string[], string[]] = [[], []];
    const terminal = createProgress({ isTTY: true, columns: 40, write: (text) => onTerminal.push(text) });
    const plain = createProgress({ write: (text) => elsewhere.push(text) });

    for (const progress of [terminal, plain]) progress.prepare("starting DynamoDB");
    terminal.end();

    expect(onTerminal).toEqual(["\r\x1b[2K| starting DynamoDB …", "\r\x1b[2K"]);
    expect(elsewhere).toEqual(["starting DynamoDB …\n"]);
  });

  it("shows the slower column on a terminal", () => {
    const written: string[] = [];
    const progress = createProgress({ isTTY: true, columns: 60, write: (text) => written.push(text) });

    progress.show(state(90, 0));
    progress.show(state(10, 10, "orders", "without onceonly"));
    progress.show(state(90, 10));
    progress.show(state(100, 100, "redrive", "without onceonly"));

    expect(written.map((line) => / (with\w*) /.exec(line)?.[1])).toEqual([
      "with",
      "without",
      "without",
      "with",
    ]);
  });

  it("begins again with the second column, and accepts more orders than planned for all", () => {
    const written: string[] = [];
    const progress = createProgress({ write: (text) => written.push(text) });

    for (let done = 0; done <= 100; done++)
      progress.show(state(done, 3 * done, "orders", "without onceonly"));
    for (let done = 0; done <= 100; done++) progress.show(state(done, done));

    expect(written.filter((line) => line.startsWith("without onceonly, orders: "))).toHaveLength(5);
    expect(written.filter((line) => line.startsWith("with onceonly, orders: "))).toHaveLength(5);
  });
});
