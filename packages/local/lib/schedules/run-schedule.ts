// Fires a schedule's targets whenever it is due, until it is stopped.
import type { Clock } from "onceonly/kit";
import type { NextTime } from "./cron-expression.ts";

export interface LocalSchedule {
  readonly logicalId: string;
  readonly expression: string;
  /** Runs the schedule now instead of when it is due; resolves when the targets were tried, retries not included. */
  fire(): Promise<void>;
}

export interface RunScheduleOptions {
  readonly clock: Clock;
  readonly next: NextTime;
  readonly signal: AbortSignal;
  /** @param atMs when it was due */
  readonly fire: (atMs: number) => Promise<void>;
}

export async function runSchedule({ clock, next, signal, fire }: RunScheduleOptions): Promise<void> {
  let dueMs = next(clock.now());
  while (dueMs !== undefined) {
    // A long sleep may end early: timers have a largest delay.
    while (clock.now() < dueMs && !signal.aborted) await clock.sleep(dueMs - clock.now(), signal);
    if (signal.aborted) return;
    // The next time comes whether or not a slow target is done.
    void fire(dueMs);
    // A suspended machine makes up for only one of the times that it slept through.
    dueMs = next(Math.max(dueMs, clock.now()));
  }
}
