import { describe, expect, it } from "vitest";
import { incidentsSeen, type Traces } from "../../../show/demo/incidents-seen.ts";
import { planDemo } from "../../../show/demo/plan.ts";
import { honestRun, rowOf } from "./given.ts";

const plan = planDemo({ orders: 9, duplicates: 2, seed: 3 });
const [order] = plan.orders as [(typeof plan.orders)[0]];
const honest = honestRun(plan);
const quiet: Traces = { ...honest, ledger: honest.ledger.map((entry) => ({ ...entry, attempts: 1 })) };
const { id } = rowOf(order);
const seen = (incident: string) => [{ tenant: order.tenant, key: order.key, incident }];

describe("incidentsSeen", () => {
  it("finds nothing if each message was sent and charged once", () => {
    expect(incidentsSeen(quiet)).toEqual([]);
  });

  it("counts a message that no sender sent as redriven", () => {
    const deliveries = [...quiet.deliveries, { ...quiet.deliveries[0]!, orderId: id, messageId: "new" }];

    expect(incidentsSeen({ ...quiet, deliveries })).toEqual(seen("redriven from the dead-letter queue"));
  });

  it("counts two messages of one deduplication id as one that the queue had forgotten", () => {
    const send = quiet.sends.find(({ orderId }) => orderId === id)!;
    const again = { ...send, messageId: "new" };
    const dropped = { ...send, isDropped: true };

    expect(incidentsSeen({ ...quiet, sends: [...quiet.sends, dropped] })).toEqual([]);
    expect(incidentsSeen({ ...quiet, sends: [...quiet.sends, again] })).toEqual(
      seen("sent again when the queue had forgotten it"),
    );
  });

  it.each([
    ["card_fails_first", 2, []],
    ["card_fails_first", 3, seen("gateway failed")],
    ["card_answer_lost", 1, []],
    ["card_answer_lost", 2, seen("gateway charged and did not answer")],
    ["card_ok", 9, []],
  ])("reads %s after %i attempts as %j", (card, attempts, incidents) => {
    const rows = [{ ...rowOf(order), card }];
    const ledger = quiet.ledger.map((entry) => (entry.orderId === id ? { ...entry, attempts } : entry));

    expect(incidentsSeen({ ...quiet, rows, ledger })).toEqual(incidents);
  });

  it("adds up the attempts at an order under several keys", () => {
    const rows = [{ ...rowOf(order), card: "card_answer_lost" }];
    const own = quiet.ledger.find(({ orderId }) => orderId === id)!;
    const ledger = [own, { ...own, idempotencyKey: "another" }];

    expect(incidentsSeen({ ...quiet, rows, ledger })).toEqual(seen("gateway charged and did not answer"));
  });
});
