// The stream between table and relay is switched off while clients order: once until the relay goes on, once until the
// sweeper has sent everything.

import { until } from "../../../../test/kit/time/until.ts";
import type { Interference } from "./interference.ts";
import type { Journal } from "./journal.ts";
import { bringsRecord, orderRecordKey } from "./order-book.ts";
import type { PlannedOrder } from "./plan.ts";
import type { Players } from "./players.ts";
import { consumersRest, outboxRests } from "./settle.ts";
import type { Stage } from "./stage.ts";

export interface OutageOptions {
  readonly stage: Pick<Stage, "deliveries" | "relay" | "stream" | "sweep" | "queues" | "tables">;
  readonly interference: Pick<Interference, "faults" | "clock" | "queue">;
  readonly journal: Pick<Journal, "happened" | "orderIdOf">;
  /** Resolves when all of them are committed. */
  readonly letIn: Players["letIn"];
  readonly signal: AbortSignal;
}

/** SQS drops duplicates that arrive within 5 minutes of the first. */
const WINDOW_SECONDS = 301;
const PATIENCE_SECONDS = 20;
/** A sweep leaves to the next one what it could not mark. */
const MOST_SWEEPS = 6;
const SWEEPER_MIN_AGE_SECONDS = 60;

/**
 * `sentTwice` are sent, but not marked: the relay is killed in between, and the stream stays off until the queue has
 * forgotten them. `late` are committed meanwhile.
 */
export async function playOutage(
  { sentTwice, late }: Readonly<Record<"sentTwice" | "late", readonly PlannedOrder[]>>,
  { stage, interference, journal, letIn, signal }: OutageOptions,
): Promise<void> {
  const { faults, clock, queue } = interference;
  const { relay, stream } = stage;
  const patience = { seconds: PATIENCE_SECONDS, signal };
  await stream.disable();
  await letIn(sentTwice);

  const isSent = (order: PlannedOrder) =>
    queue.sends.some(({ orderId }) => orderId === journal.orderIdOf(order));
  let isKilled = sentTwice.length === 0;
  const stops = sentTwice.map((order) => {
    const recordKey = orderRecordKey(order);
    return faults.on(recordKey, "mark", () => {
      // Messages that a relay has not sent before it dies are sent only once.
      if (!isKilled && sentTwice.every(isSent) && relay.kill((event) => bringsRecord(event, recordKey))) {
        isKilled = true;
        void stream.disable();
        journal.happened(order, "relay killed before-mark");
      }
      return "throttle";
    });
  });
  if (!isKilled) stream.enable();
  await until(() => isKilled, patience);
  await stream.disable();

  await letIn(late);
  await until(consumersRest(stage), patience);
  for (const stop of stops) stop();
  clock.leap(WINDOW_SECONDS);
  stream.enable();
  await until(() => outboxRests(stage), patience);
}

export async function playSweep(
  swept: readonly PlannedOrder[],
  { stage, letIn, signal }: Pick<OutageOptions, "stage" | "letIn" | "signal">,
): Promise<void> {
  const { relay, stream, tables } = stage;
  await stream.disable();
  await until(() => relay.running.size === 0, { seconds: PATIENCE_SECONDS, signal });
  await letIn(swept);
  for (let sweep = 0; sweep < MOST_SWEEPS && (await tables.unsent()) > 0; sweep++) {
    // The sweeper uses the machine's time, and would leave younger commits to the relay.
    await tables.ageUnsent(2 * SWEEPER_MIN_AGE_SECONDS);
    await stage.sweep();
  }
  stream.enable();
}
