// The rows of the table about the sagas. Pure.
import type { Row } from "../table.ts";
import type { SagasSeen } from "./saga-observation.ts";
import type { PlannedSaga } from "./saga-plan.ts";
import { balanceOf } from "./saga-verdict.ts";

export function sagaRows(sagas: readonly PlannedSaga[], seen: SagasSeen): Row[] {
  const { placed, canceled, charges, refunds, shipments, pieces, reserved } = balanceOf(seen);
  const plannedTo = (wanted: PlannedSaga["end"]) => sagas.filter(({ end }) => end === wanted).length;
  const rows: [name: string, count: number, meaning: string, due?: number][] = [
    ["sagas", sagas.length, "keys: reserve, charge and ship an order, or undo all of it"],
    ["saga requests", seen.requests, "HTTP, every retry included"],
    ["saga attempts", seen.executions, "handlers started, those that were killed included"],
    ["saga kills", seen.killed.length, "SIGKILL: before and after the request of each step and compensation"],
    ["held", seen.held.length, "keys whose charge was unknown: refused, not run"],
    ["asked", seen.lookUps, "questions to the gateway: is this charge there?"],
    ["reconciled", seen.reconciled, "held keys that the reconciler settled", seen.held.length],
    ["placed", placed, "orders, by their state", plannedTo("paid")],
    ["canceled", canceled, "orders, by their state: all is undone", plannedTo("canceled")],
    ["charged", charges, "entries in the gateway's ledger"],
    ["refunded", refunds, "of these, given back: canceled orders keep no charge", charges - placed],
    ["shipped", shipments, "entries of the carrier: one for each placed order", placed],
    ["reserved", reserved, "pieces in stock: those of placed orders", pieces],
  ];
  return rows.map(([name, count, meaning, due]) => ({
    ...{ name, count, meaning, isOurs: true },
    ...(due !== undefined && { due }),
  }));
}
