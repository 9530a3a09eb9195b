// A run's results: what was recorded during it, and what is stored at its end.
import { incidentsSeen } from "./incidents-seen.ts";
import type { Interference } from "./interference.ts";
import type { Journal } from "./journal.ts";
import type { Observation } from "./observation.ts";
import { OPERATIONS } from "./order-book.ts";
import type { SagaEntry, SagasPlayed } from "./sagas/saga-observation.ts";
import type { PlannedSaga } from "./sagas/saga-plan.ts";
import { nameOf, type OrderRow } from "./seen.ts";
import type { Stage } from "./stage.ts";

export interface ObserveOptions {
  readonly stage: Pick<Stage, "deliveries" | "tables" | "queues" | "lostAnswers" | "sweeper" | "executions">;
  readonly interference: Pick<Interference, "faults" | "gateway" | "queue">;
  readonly journal: Journal;
  /** Messages that were moved back from the dead-letter queue. */
  readonly redriven: number;
  readonly receipts: Observation["receipts"];
  readonly sagas: { readonly planned: readonly PlannedSaga[]; readonly played: SagasPlayed };
}

export async function observe(options: ObserveOptions): Promise<Observation> {
  const { stage, interference, journal, redriven, receipts, sagas } = options;
  const { tables, queues, deliveries } = stage;
  const { faults, gateway, queue } = interference;
  const bySaga = new Set(sagas.planned.map(nameOf));
  const isOfSaga = (row: OrderRow) => bySaga.has(nameOf({ ...row, key: row.idempotencyKey }));
  const rows = await tables.orders();
  const ledger = await tables.ledger();
  const shipped = new Set(rows.filter(isOfSaga).map(({ id }) => id));
  const isEntryOfSaga = (entry: SagaEntry) => entry.shipped !== undefined || shipped.has(entry.orderId);
  const stored = {
    rows: rows.filter((row) => !isOfSaga(row)),
    payments: await tables.payments(),
    ledger: ledger.filter((entry) => !isEntryOfSaga(entry)),
  };
  const handled = { sends: queue.sends, deliveries: deliveries.all };
  const { visible, inFlight } = await queues.payments();
  const deadLetters = await queues.deadLetters();
  return {
    requests: journal.requests,
    answers: journal.answers,
    endings: journal.endings,
    incidents: [...journal.incidents, ...incidentsSeen({ ...stored, ...handled })],
    lostAnswers: { dynamodb: stage.lostAnswers(), sqs: queue.lostAnswers },
    throttles: faults.throttles,
    refusals: gateway.refusals,
    executions: await stage.executions(),
    ...handled,
    sweeperSends: stage.sweeper.sends,
    redriven,
    ...stored,
    receipts,
    sagas: {
      ...sagas.played,
      executions: await tables.executions(OPERATIONS.saga),
      rows: rows.filter(isOfSaga),
      ledger: ledger.filter(isEntryOfSaga),
      reserved: await tables.reserved(),
    },
    left: {
      unsent: await tables.unsent(),
      queued: visible + inFlight,
      deadLetters: deadLetters.visible + deadLetters.inFlight,
    },
  };
}
