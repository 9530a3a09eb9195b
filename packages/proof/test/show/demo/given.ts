// The observations of a run in which everything holds, for plans of any size.
import { incidentsPlanned } from "../../../show/demo/incidents.ts";
import type { Observation } from "../../../show/demo/observation.ts";
import type { Plan, PlannedOrder } from "../../../show/demo/plan.ts";
import type { SagasSeen } from "../../../show/demo/sagas/saga-observation.ts";
import type { PlannedSaga } from "../../../show/demo/sagas/saga-plan.ts";
import { FINAL_STATUS_OF } from "../../../show/demo/sagas/saga-verdict.ts";
import type { Answer, Ending, LedgerEntry, OrderRow, PaymentRow } from "../../../show/demo/seen.ts";
import { nameOf } from "../../../show/demo/seen.ts";

export function honestRun(plan: Plan): Observation {
  const countOf = (kind: string) => plan.orders.filter(({ behaviour }) => behaviour.kind === kind).length;
  const answers = plan.orders.flatMap(answersTo);
  const paid = plan.orders.filter(({ payment }) => payment.kind !== "declined");
  return {
    requests: answers.length + countOf("abandoned"),
    answers,
    endings: answers
      .filter(({ status }) => status === 201 || status === 422)
      .map(({ tenant, key, asked, status }): Ending => ({ tenant, key, asked, status })),
    incidents: plan.orders.flatMap((order) =>
      incidentsPlanned(order).map((incident) => ({ tenant: order.tenant, key: order.key, incident })),
    ),
    lostAnswers: { dynamodb: 3, sqs: 2 },
    throttles: 1,
    refusals: 10,
    executions: { orders: plan.orders.length + countOf("killed"), payments: plan.orders.length + 4 },
    sends: plan.orders.map((order) => sendOf(order)),
    sweeperSends: 1,
    deliveries: plan.orders.flatMap(deliveriesOf),
    redriven: 1,
    rows: plan.orders.map(rowOf),
    payments: paid.map(paymentOf),
    ledger: plan.orders.map(ledgerEntryOf),
    receipts: {
      committed: 3,
      parked: 3,
      redirected: ["receipt-1"],
      sentAgain: ["receipt-2", "receipt-3"],
      copies: ["receipt-1", "receipt-2", "receipt-3"],
      left: 0,
    },
    sagas: honestSagas(plan.sagas),
    left: { unsent: 0, queued: 0, deadLetters: 0 },
  };
}

export function rowOf({ tenant, key, body, payment }: PlannedOrder): OrderRow {
  const state = payment.kind === "declined" ? "declined" : "paid";
  const totalCents = body.quantity * 250;
  return { tenant, id: `id-of-${tenant}-${key}`, ...body, totalCents, state, idempotencyKey: key };
}

export function paymentOf(order: PlannedOrder): PaymentRow {
  const { tenant, id, totalCents } = rowOf(order);
  return { tenant, orderId: id, chargeId: `charge-of-${id}`, amountCents: totalCents };
}

export function ledgerEntryOf(order: PlannedOrder): LedgerEntry {
  const { id, totalCents } = rowOf(order);
  const entry = { idempotencyKey: `key-of-${id}`, orderId: id, amountCents: totalCents, attempts: 3 };
  return order.payment.kind === "declined" ? entry : { ...entry, chargeId: `charge-of-${id}` };
}

/** Each saga is asked for twice, and gets one answer. */
function honestSagas(sagas: readonly PlannedSaga[]): SagasSeen {
  const rows = sagas.map(({ tenant, key, body, end }) => ({
    ...{ tenant, id: `saga-of-${key}`, ...body, totalCents: body.quantity * 250 },
    ...{ state: end, idempotencyKey: key },
  }));
  const placed = rows.filter(({ state }) => state === "paid");
  const charged = rows.filter(({ card }) => card !== "card_declined");
  const answers = sagas.flatMap(({ tenant, key, end }) => {
    const body = end === "paid" ? `the order of ${key}` : `undone: ${key}`;
    const answer = { tenant, key, status: FINAL_STATUS_OF[end], body, isFinal: true };
    return [answer, answer];
  });
  return {
    requests: answers.length,
    answers,
    endings: answers.map(({ tenant, key, status }) => ({ tenant, key, status })),
    killed: sagas.filter(({ kill }) => kill).map(nameOf),
    held: sagas.filter(({ body }) => body.card === "card_answer_lost").map(nameOf),
    lookUps: 2,
    reconciled: sagas.filter(({ body }) => body.card === "card_answer_lost").length,
    executions: sagas.length + 2,
    rows,
    ledger: [
      ...charged.map(({ id, totalCents, state }) => ({
        ...{ idempotencyKey: `charge of ${id}`, orderId: id, amountCents: totalCents, attempts: 1 },
        ...{ chargeId: `charge-of-${id}`, ...(state === "canceled" && { refundedBy: `refund of ${id}` }) },
      })),
      ...placed.map(({ id, sku, totalCents }) => ({
        ...{ idempotencyKey: `shipment of ${id}`, orderId: id, amountCents: totalCents, attempts: 1 },
        shipped: sku,
      })),
    ],
    reserved: placed.reduce((sum, { quantity }) => sum + quantity, 0),
  };
}

/** One that failed, one that was done, and one that came again. */
function deliveriesOf(order: PlannedOrder): Observation["deliveries"][number][] {
  const { orderId, messageId } = sendOf(order);
  return [
    { orderId, messageId, end: "returned", hasCommitted: false },
    { orderId, messageId, end: "acknowledged", hasCommitted: true },
    { orderId, messageId, end: "acknowledged", hasCommitted: false },
  ];
}

function sendOf(order: PlannedOrder): Observation["sends"][number] {
  const { id } = rowOf(order);
  return { orderId: id, messageId: `message-of-${id}`, deduplicationId: `dedup-of-${id}`, isDropped: false };
}

function answersTo(order: PlannedOrder): Answer[] {
  const { tenant, key, behaviour } = order;
  const { id, sku, quantity } = rowOf(order);
  const first: Answer = {
    tenant,
    key,
    asked: "order",
    status: 201,
    replayed: false,
    location: `/orders/${id}`,
    body: JSON.stringify({ id, sku, quantity }),
  };
  const replay = { ...first, replayed: true };
  const failure = { ...first, location: null, body: "" };
  switch (behaviour.kind) {
    case "unique":
      return [first];
    case "sequential":
    case "concurrent":
      return [
        first,
        { ...failure, status: 409 },
        ...Array.from({ length: behaviour.duplicates }, () => replay),
      ];
    case "abandoned":
      return [replay];
    case "reused":
      return [first, { ...failure, asked: "other-body", status: 422 }, replay];
    case "killed":
      return [
        { ...failure, status: 500 },
        { ...failure, status: 409 },
        first,
        ...Array.from({ length: behaviour.duplicates }, () => replay),
      ];
  }
}
