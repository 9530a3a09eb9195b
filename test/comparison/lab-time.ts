// Time that a run can skip: for onceonly through its clock, for everybody else through `Date`.
import { vi } from "vitest";
import { type Clock, systemClock } from "../../lib/core/clock.ts";

export class LabTime {
  #now = 1_900_000_000_000;

  /** The pauses between tries pass at once; only the alarm before a deadline, which can be called off, is waited for. */
  readonly clock: Clock = {
    now: () => this.#now,
    sleep: async (ms, signal) => (signal ? systemClock.sleep(ms, signal) : this.skip(ms)),
  };

  /** Only `Date` stands still: timers and the network go on. */
  start(): void {
    vi.useFakeTimers({ toFake: ["Date"], now: this.#now });
  }

  skip(ms: number): void {
    this.#now += ms;
    vi.setSystemTime(this.#now);
  }

  stop(): void {
    vi.useRealTimers();
  }
}
