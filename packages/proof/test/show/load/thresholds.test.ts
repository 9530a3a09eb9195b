// The thresholds on runs that are made up: one in which all is well, and one for each thing that can be off.
import { describe, expect, it, test } from "vitest";
import { answerThresholds } from "../../../show/load/answer-thresholds.ts";
import { effectThresholds } from "../../../show/load/effect-thresholds.ts";
import type { Observed } from "../../../show/load/observed.ts";
import { isDeclined, planLoad } from "../../../show/load/plan-load.ts";
import { formatInformation, formatThresholds } from "../../../show/load/report.ts";
import { isBroken } from "../../../show/load/threshold.ts";

const plan = planLoad({ orders: 40, duplicates: 1, hot: 0, seed: 1 });

function honestRun() {
  const orders = plan.orders.map((order) => {
    const { tenant, key, body } = order;
    const { sku, quantity } = body;
    const state = isDeclined(order) ? "declined" : "paid";
    return {
      tenant,
      id: `${tenant}-${key}`,
      idempotencyKey: key,
      sku,
      quantity,
      totalCents: quantity * 250,
      state,
    };
  });
  const paid = orders.filter(({ state }) => state === "paid");
  const answers = plan.asks.map(({ order: { tenant, key }, asked }) => {
    const [status, location] = asked === "order" ? [201, `/orders/${tenant}-${key}`] : [422, null];
    return { tenant, key, asked, status: status as number, location, replayed: false, body: `${location}` };
  });
  return {
    sent: {
      answered: answers.length,
      unanswered: 0,
      connectionErrors: 0,
      timeouts: 0,
      seconds: 2,
      latencyMs: { p50: 1, p90: 2, p99: 3 },
    },
    answers,
    stuck: [] as (typeof plan.orders)[number][],
    effects: {
      isAlone: true,
      orders,
      payments: paid.map(({ tenant, id, totalCents }) => {
        return { tenant, orderId: id, chargeId: `charge-${id}`, amountCents: totalCents };
      }),
      ledger: paid.map(({ id, totalCents }) => {
        const idempotencyKey = `key-${id}`;
        return {
          idempotencyKey,
          orderId: id,
          amountCents: totalCents,
          attempts: 1,
          chargeId: `charge-${id}`,
        };
      }),
      left: { unsent: 0, queued: 0, deadLetters: 0 },
    },
    faults: undefined,
  };
}

type Run = ReturnType<typeof honestRun>;

function judge(observed: Observed, hasFaults = false) {
  const all = [...answerThresholds(observed, { hasFaults }), ...effectThresholds(plan, observed.effects)];
  return { all, broken: all.filter(isBroken).map(({ name }) => name) };
}

describe("answerThresholds and effectThresholds", () => {
  it("hold if all is well", () => {
    expect(judge(honestRun()).broken).toEqual([]);
    expect(formatThresholds(judge(honestRun()).all)).toMatch(/held: all \d+ thresholds$/);
  });

  const first = plan.orders.findIndex((order) => !isDeclined(order) && order.tenant === "acme");
  test.each<[string, (run: Run) => void, string[]]>([
    ["a request without an answer", ({ sent }) => (sent.unanswered = 1), ["requests without an answer"]],
    ["a status of 500", ({ answers }) => (answers[0]!.status = 500), ["unexpected statuses"]],
    ["a store that fails", ({ answers }) => (answers[0]!.status = 503), ["unexpected statuses"]],
    [
      "another body that is taken for the order",
      ({ answers }) => {
        const other = answers.find(({ asked }) => asked === "other-body")!;
        Object.assign(other, { status: 201, location: "/orders/another" });
      },
      ["unexpected statuses", "keys with different answers"],
    ],
    ["two bodies for one key", ({ answers }) => (answers[0]!.body = "{}"), ["keys with different answers"]],
    ["a key that is stuck", ({ stuck }) => stuck.push(plan.orders[0]!), ["keys that are stuck"]],
    [
      "a second order for a key, paid as well",
      ({ effects: { orders, payments, ledger } }) => {
        orders.push({ ...orders[first]!, id: "second" });
        payments.push({ ...payments[0]!, orderId: "second", amountCents: orders[first]!.totalCents });
        ledger.push({ ...ledger[0]!, orderId: "second", amountCents: orders[first]!.totalCents });
      },
      ["orders of acme", "paid orders of acme", "payments of acme", "charges of acme"],
    ],
    [
      "an order that is missing, and another too many",
      ({ effects: { orders } }) => {
        const declined = orders.filter(({ state, tenant }) => state === "declined" && tenant === "acme");
        Object.assign(declined[0]!, { idempotencyKey: orders[first]!.idempotencyKey });
      },
      ["orders of acme", "orders of another content"],
    ],
    [
      "an order that is never paid",
      ({ effects: { orders } }) => (orders[first]!.state = "created"),
      ["paid orders of acme", "orders that are not settled"],
    ],
    ["a payment that is missing", ({ effects }) => effects.payments.shift(), ["payments of acme"]],
    [
      "a second charge",
      ({ effects: { ledger } }) => ledger.push({ ...ledger[0]!, chargeId: "second" }),
      ["charges of acme", "orders charged twice"],
    ],
    [
      "a charge of another amount",
      ({ effects: { ledger } }) => Object.assign(ledger[0]!, { amountCents: 1 }),
      ["charges of another amount"],
    ],
    [
      "an order, a payment and a charge of nobody",
      ({ effects: { orders, payments, ledger } }) => {
        orders.push({ ...orders[0]!, id: "stray", idempotencyKey: "stray" });
        payments.push({ ...payments[0]!, orderId: "nobody" });
        ledger.push({ ...ledger[0]!, orderId: "nobody" });
      },
      ["orders that no client asked for", "payments for no order", "charges for no order"],
    ],
    [
      "what is left",
      ({ effects: { left } }) => Object.assign(left, { unsent: 1, queued: 2, deadLetters: 3 }),
      ["messages left in the outbox", "messages left in the queue", "messages in the dead-letter queue"],
    ],
  ])("break for %s", (_, disturb, broken) => {
    const run = honestRun();
    disturb(run);

    expect(judge(run).broken).toEqual(broken);
    expect(formatThresholds(judge(run).all)).toMatch(new RegExp(`broken \\(.*\\): ${broken.join(", ")}$`));
  });

  it("accept a store that reports its failure when faults are injected, and nothing more", () => {
    const run = honestRun();
    run.answers[0]!.status = 503;
    expect(judge(run, true).broken).toEqual([]);

    run.answers[1]!.status = 500;
    expect(judge(run, true).broken).toEqual(["unexpected statuses"]);
  });

  it("report what could not be seen", () => {
    const run = honestRun();
    const left = { unsent: undefined, queued: undefined, deadLetters: undefined };
    const effects = { ...run.effects, isAlone: false, payments: undefined, ledger: undefined, left };
    const { all, broken } = judge({ ...run, effects });

    expect(broken).toEqual([]);
    const seen = all.filter(({ found }) => found !== undefined).length;
    expect(formatThresholds(all)).toContain(
      `held: all ${seen} thresholds that could be seen, of ${all.length}`,
    );
    expect(formatThresholds(all)).toMatch(/^– payments of acme +\d+ +not seen$/m);
  });
});

describe("formatThresholds", () => {
  it("shows what is off, equal lines once, and not more than a few", () => {
    const off = ["one", "one", "two", "three", "four", "five", "six", "seven"];

    expect(formatThresholds([{ name: "things", expected: 0, found: 8, off }]).split("\n")).toEqual([
      "          expected     found",
      "✗ things         0         8",
      "    one (2 times)",
      "    two",
      "    three",
      "    four",
      "    five",
      "    and 2 more",
      "",
      "broken (1 of 1): things",
    ]);
  });
});

describe("formatInformation", () => {
  it("counts responses, and reports time and faults", () => {
    const run = honestRun();
    const faults = { lostAnswers: 4, throttles: 2 };
    const lines = formatInformation({ ...run, faults }).split("\n");

    expect(lines[1]).toBe("  answers     80 × 201, 8 × 422");
    expect(lines.slice(2)).toEqual([
      "  of these    0 replays, 8 to another body under a used key",
      "  hot key     3 answers",
      "  faults      4 answers lost, 2 writes throttled",
      "  throughput  44 requests per second, for 2.0 s",
      "  latency     1 ms (median), 2 ms (90 %), 3 ms (99 %)",
    ]);
  });
});
