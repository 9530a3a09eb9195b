/** A clock that others move: waits between tries take no time and are noted, and no request takes too long. */
import type { Clock } from "../../../lib/core/clock.ts";

/** `clock` gives the time. @default the system clock */
export function timeless(clock: Pick<Clock, "now"> = Date): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    now: () => clock.now(),
    sleep: async (ms, signal) => {
      if (signal === undefined) slept.push(ms);
      else await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  };
}
