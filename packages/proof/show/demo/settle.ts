// Waits until everything that was committed is sent and done; hidden messages come back by a leap of time.

import { until } from "../../../../test/kit/time/until.ts";
import type { Interference } from "./interference.ts";
import { OPERATIONS } from "./order-book.ts";
import type { Stage } from "./stage.ts";

export interface SettleOptions {
  readonly stage: Pick<Stage, "deliveries" | "relay" | "queues" | "tables">;
  readonly clock: Interference["clock"];
  readonly signal: AbortSignal;
}

/** The visibility timeout of bin/payment-service.ts, and a second. */
const VISIBILITY_SECONDS = 61;
/** More than any message can be received before it is in the dead-letter queue, twice. */
const MOST_LEAPS = 25;
/** For one rest; longer than any lease. */
const PATIENCE_SECONDS = 60;

/** Gives up in the end: the result then shows what is left. */
export async function settle({ stage, clock, signal }: SettleOptions): Promise<void> {
  const patience = { seconds: PATIENCE_SECONDS, signal };
  for (let leaps = 0; leaps < MOST_LEAPS; leaps++) {
    const isSent = await until(() => outboxRests(stage), patience);
    // A delivery during another claim would find the key in progress, and use up a receive.
    const isFree = await until(
      async () => (await stage.tables.lastLeaseEnd(OPERATIONS.payment)) === 0,
      patience,
    );
    const isAtRest = await until(consumersRest(stage), patience);
    const { visible, inFlight } = await stage.queues.payments();
    if (!isSent || !isFree || !isAtRest || visible + inFlight === 0) return;
    clock.leap(VISIBILITY_SECONDS);
  }
}

/** No consumer runs, and there was nothing for one since the last look. Visible messages may wait for hidden ones. */
export function consumersRest({ deliveries }: Pick<Stage, "deliveries">): () => boolean {
  let before = -1;
  return () => {
    const rests = deliveries.consumer.running.size === 0 && deliveries.all.length === before;
    before = deliveries.all.length;
    return rests;
  };
}

export async function outboxRests({ tables, relay }: Pick<Stage, "tables" | "relay">): Promise<boolean> {
  return (await tables.unsent()) === 0 && relay.running.size === 0;
}
