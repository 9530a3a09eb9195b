/** The time of a simulation: a fake clock that fires timers, one at a time. */
import type { Clock } from "onceonly/kit";
import type { FakeClock } from "onceonly/testing";

interface Timer {
  readonly until: number;
  readonly fire: () => void;
}

export class VirtualTime implements FakeClock {
  readonly startAt: number;
  #now: number;
  /** The earliest timer first; at the same time, the one that was set first. */
  readonly #timers: Timer[] = [];
  /** Whether a simulation runs, and advances time by itself. */
  isDriven = false;

  constructor(startAt: number) {
    this.startAt = startAt;
    this.#now = startAt;
  }

  now = (): number => this.#now;

  /** Calls `fire` after so many milliseconds, unless the returned function is called before. */
  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { until: this.#now + Math.max(0, ms), fire };
    if (timer.until === Number.POSITIVE_INFINITY) return () => undefined;
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1] as Timer).until > timer.until) index--;
    this.#timers.splice(index, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  /** Advances to the next timer and fires it; `false` when none is due until then. */
  fireNext(latest = Number.POSITIVE_INFINITY): boolean {
    const [next] = this.#timers;
    if (next === undefined || next.until > latest) return false;
    this.#timers.shift();
    this.#now = Math.max(this.#now, next.until);
    next.fire();
    return true;
  }

  sleep: Clock["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        cancel();
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const cancel = this.after(ms, wake);
      signal?.addEventListener("abort", wake);
    });

  async advance(ms: number): Promise<void> {
    if (this.isDriven) return this.sleep(ms);
    const target = this.#now + ms;
    const [next] = this.#timers;
    if (next && next.until <= target) {
      throw new Error("something is due before that: advance the clock inside run, so that it can happen");
    }
    this.#now = target;
  }

  async run<T>(work: Promise<T>): Promise<T> {
    if (this.isDriven) return work;
    throw new Error("this clock is advanced by its simulator: use the simulator's run");
  }

  get sleepers(): number {
    return this.#timers.length;
  }

  skewed(ms: number): Clock {
    return { now: () => this.#now + ms, sleep: this.sleep };
  }
}
