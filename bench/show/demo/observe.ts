// What a run has come to: what was written down on the way, and what is stored in the end.
import { incidentsSeen } from "./incidents-seen.ts";
import type { Interference } from "./interference.ts";
import type { Journal } from "./journal.ts";
import type { Observation } from "./observation.ts";
import type { Stage } from "./stage.ts";

export interface ObserveOptions {
  readonly stage: Pick<Stage, "deliveries" | "tables" | "queues" | "lostAnswers" | "sweeper" | "executions">;
  readonly interference: Pick<Interference, "faults" | "gateway" | "queue">;
  readonly journal: Journal;
  /** Messages that were moved back from the dead-letter queue. */
  readonly redriven: number;
  readonly receipts: Observation["receipts"];
}

export async function observe(options: ObserveOptions): Promise<Observation> {
  const { stage, interference, journal, redriven, receipts } = options;
  const { tables, queues, deliveries } = stage;
  const { faults, gateway, queue } = interference;
  const stored = {
    rows: await tables.orders(),
    payments: await tables.payments(),
    ledger: await tables.ledger(),
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
    left: {
      unsent: await tables.unsent(),
      queued: visible + inFlight,
      deadLetters: deadLetters.visible + deadLetters.inFlight,
    },
  };
}
