/** How long a batch may start records, and when it must have answered. */
import type { Clock } from "../../core/clock.ts";

const MAX_MARGIN_MS = 2000;

export interface BatchTime {
  readonly canStart: () => boolean;
  /** Until then (epoch ms); `undefined` knows no end. */
  readonly startUntil: number | undefined;
  /** Resolves when the batch must answer, or when `over` aborts. */
  readonly untilAnswer: (over: AbortSignal) => Promise<void>;
}

export function batchTime(
  clock: Clock,
  remainingMs: number | undefined,
  marginMs: number | undefined,
): BatchTime {
  if (remainingMs === undefined) {
    return { canStart: () => true, startUntil: undefined, untilAnswer: () => new Promise(() => {}) };
  }
  const margin = marginMs ?? Math.min(MAX_MARGIN_MS, remainingMs / 5);
  const deadline = clock.now() + remainingMs;
  const startUntil = deadline - margin;
  // By then the signals of all attempts have aborted, also of the last one that was allowed to start.
  const answerAt = deadline - Math.min(500, margin / 10);
  return {
    canStart: () => clock.now() < startUntil,
    startUntil,
    untilAnswer: (over) => clock.sleep(answerAt - clock.now(), over),
  };
}
