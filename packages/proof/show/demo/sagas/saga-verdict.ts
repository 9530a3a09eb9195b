// Whether stock, charges, refunds and shipments balance with the orders that sagas have placed and canceled. Pure.
import { chargesIn, straysIn } from "../../../../../test/kit/shop/judge.ts";
import { groupBy } from "../group-by.ts";
import { nameOf } from "../seen.ts";
import type { SagaEntry, SagasSeen } from "./saga-observation.ts";
import { type PlannedSaga, sagaKillName } from "./saga-plan.ts";

export interface Balance {
  readonly placed: number;
  readonly canceled: number;
  /** Charges, and how many of them were refunded. */
  readonly charges: number;
  readonly refunds: number;
  readonly shipments: number;
  /** Pieces of orders that are placed, and pieces that are reserved. */
  readonly pieces: number;
  readonly reserved: number;
}

export function balanceOf({
  rows,
  ledger,
  reserved,
}: Pick<SagasSeen, "rows" | "ledger" | "reserved">): Balance {
  const placed = rows.filter(({ state }) => state === "paid");
  const charges = chargesIn(ledger);
  return {
    placed: placed.length,
    canceled: rows.filter(({ state }) => state === "canceled").length,
    charges: charges.length,
    refunds: charges.filter(isRefunded).length,
    shipments: ledger.filter(isShipment).length,
    pieces: placed.reduce((sum, { quantity }) => sum + quantity, 0),
    reserved,
  };
}

/** @returns a line for everything that is off; none if all sagas are done or undone, each effect once */
export function sagaProblems(sagas: readonly PlannedSaga[], seen: SagasSeen): string[] {
  const rowsOf = groupBy(seen.rows, (row) => nameOf({ ...row, key: row.idempotencyKey }));
  const entriesOf = groupBy(seen.ledger, ({ orderId }) => orderId);
  const answersOf = groupBy(seen.answers, nameOf);
  const endingsOf = groupBy(seen.endings, nameOf);
  const problems = sagas.flatMap((saga) => {
    const name = nameOf(saga);
    const rows = rowsOf.get(name) ?? [];
    const found = [
      ...effectProblems(
        saga,
        rows,
        rows.flatMap(({ id }) => entriesOf.get(id) ?? []),
      ),
      ...answerProblems(saga, answersOf.get(name) ?? [], endingsOf.get(name) ?? []),
    ];
    if (saga.kill && !seen.killed.includes(name)) {
      found.push(`planned to be ${sagaKillName(saga.kill)}, which did not happen`);
    }
    return found.map((what) => `saga ${name}: ${what}`);
  });
  const strays = straysIn(seen.ledger, seen.rows).map(
    ({ orderId, shipped }) =>
      `saga of order ${orderId}: was ${shipped ? "shipped" : "charged"}, and is not in the table`,
  );
  return [...problems, ...strays, ...imbalances(seen)];
}

function effectProblems(
  { end }: PlannedSaga,
  rows: SagasSeen["rows"],
  entries: readonly SagaEntry[],
): string[] {
  const charges = chargesIn(entries);
  const kept = charges.filter((charge) => !isRefunded(charge));
  const due = end === "paid" ? 1 : 0;
  const counts: [what: string, found: number, due: number][] = [
    ["orders", rows.length, 1],
    [`orders that are ${end}`, rows.filter(({ state }) => state === end).length, 1],
    ["charges that are kept", kept.length, due],
    ["shipments", entries.filter(isShipment).length, due],
  ];
  const off = counts.filter(([, found, wanted]) => found !== wanted);
  const problems = off.map(([what, found, wanted]) => `expected ${wanted} ${what}, found ${found}`);
  if (charges.length > 1) problems.push(`expected at most 1 charge, found ${charges.length}`);
  return problems;
}

export const FINAL_STATUS_OF = { paid: 201, canceled: 409 } as const;

function answerProblems(
  { end }: PlannedSaga,
  answers: SagasSeen["answers"],
  endings: SagasSeen["endings"],
): string[] {
  const due = FINAL_STATUS_OF[end];
  const finals = answers.filter(({ isFinal }) => isFinal);
  const different = new Set(finals.map(({ status, body }) => `${status} ${body}`)).size;
  const problems = endings
    .filter(({ status }) => status !== due)
    .map(({ status, failure }) => `expected the end ${due}, got ${failure ?? status}`);
  if (different !== 1) problems.push(`expected 1 answer, got ${different} different ones`);
  return problems;
}

/** What no single order shows: two sagas' pieces are in one row of the stock. */
function imbalances(seen: SagasSeen): string[] {
  const { placed, charges, refunds, shipments, pieces, reserved } = balanceOf(seen);
  const pairs: [what: string, found: number, due: number][] = [
    ["pieces reserved", reserved, pieces],
    ["charges less refunds", charges - refunds, placed],
    ["shipments", shipments, placed],
  ];
  return pairs
    .filter(([, found, due]) => found !== due)
    .map(([what, found, due]) => `sagas: ${what} are ${found}, and orders that are placed ask for ${due}`);
}

function isRefunded({ refundedBy }: SagaEntry): boolean {
  return refundedBy !== undefined;
}

function isShipment({ shipped }: SagaEntry): boolean {
  return shipped !== undefined;
}
