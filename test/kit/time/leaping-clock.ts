// Goes as fast as the machine's clock, and jumps on request, so minutes of waiting take no time.
import type { Clock } from "../../../lib/core/clock.ts";

export interface LeapingClock extends Clock {
  /** Sleepers wake in the order of their times. */
  leap(seconds: number): void;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
  timer?: NodeJS.Timeout;
}

export function leapingClock(): LeapingClock {
  const sleepers = new Set<Sleeper>();
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;

  function setAlarm(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer);
    sleeper.timer = setTimeout(sleeper.wake, Math.max(0, sleeper.until - now()));
  }

  return {
    now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper: Sleeper = {
          until: now() + ms,
          wake: () => {
            clearTimeout(sleeper.timer);
            sleepers.delete(sleeper);
            signal?.removeEventListener("abort", sleeper.wake);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", sleeper.wake);
        setAlarm(sleeper);
      }),
    leap(seconds) {
      aheadMs += seconds * 1000;
      for (const sleeper of [...sleepers].sort((one, other) => one.until - other.until)) setAlarm(sleeper);
    },
  };
}
