/** How long a batch may start records, and when it must respond. */
import type { Clock } from "../../core/clock.ts";

const MAX_MARGIN_MS = 2000;

export interface BatchTime {
  readonly canStart: () => boolean;
  /** Epoch ms; `undefined` if there is no end. */
  readonly startUntil: number | undefined;
  /** Resolves when the batch must respond, or when `over` aborts. */
  readonly untilAnswer: (over: AbortSignal) => Promise<void>;
}

export function batchTime(
  clock: Clock,
  remainingMs: number | undefined,
  deadlineMarginMs: number | undefined,
): BatchTime {
  if (remainingMs === undefined) {
    return { canStart: () => true, startUntil: undefined, untilAnswer: () => new Promise(() => {}) };
  }
  const margin = deadlineMarginMs ?? Math.min(MAX_MARGIN_MS, remainingMs / 5);
  const deadline = clock.now() + remainingMs;
  const startUntil = deadline - margin;
  // By then the signals of all attempts have aborted, including the last one allowed to start.
  const answerAt = deadline - Math.min(500, margin / 10);
  return {
    canStart: () => clock.now() < startUntil,
    startUntil,
    untilAnswer: (over) => clock.sleep(answerAt - clock.now(), over),
  };
}
