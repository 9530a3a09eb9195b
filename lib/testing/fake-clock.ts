/** Virtual time: stands still until a test moves it. */
import type { Clock } from "../core/clock.ts";

export interface FakeClock extends Clock {
  /**
   * Advances time by `ms`. Sleepers wake in the order of their times, each at its own time. The work of one
   * sleeper runs as far as it can before the next wakes.
   */
  advance(ms: number): Promise<void>;
  /** Advances time, from sleeper to sleeper, until `work` is settled, and returns its result. */
  run<T>(work: Promise<T>): Promise<T>;
  /** The number of sleepers. */
  readonly sleepers: number;
  /** The same time on a host whose clock is ahead by `ms`, or behind if negative. */
  skewed(ms: number): Clock;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** `startAt` is in epoch ms; the default is a round number in 2023. */
export function fakeClock(startAt = 1_700_000_000_000): FakeClock {
  let time = startAt;
  const sleepers = new Set<Sleeper>();

  const sleep: Clock["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = {
        until: time + Math.max(0, ms),
        wake: () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.wake);
    });

  const wakeNext = (latest: number): boolean => {
    let next: Sleeper | undefined;
    for (const sleeper of sleepers) if (next === undefined || sleeper.until < next.until) next = sleeper;
    if (next === undefined || next.until > latest) return false;
    time = Math.max(time, next.until);
    next.wake();
    return true;
  };

  return {
    now: () => time,
    sleep,
    async advance(ms) {
      const target = time + ms;
      do await allElse();
      while (wakeNext(target));
      time = target;
    },
    async run(work) {
      let isSettled = false;
      const noteSettled = () => {
        isSettled = true;
      };
      work.then(noteSettled, noteSettled);
      await allElse();
      while (!isSettled) {
        if (!wakeNext(Number.POSITIVE_INFINITY)) {
          throw new Error("the work waits for something that is not the clock");
        }
        await allElse();
      }
      return work;
    },
    get sleepers() {
      return sleepers.size;
    },
    skewed: (ms) => ({ now: () => time + ms, sleep }),
  };
}

/** Runs everything that is ready: each turn of the event loop empties the microtask queue. */
function allElse(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
