// A clock that others move: waits between tries take no time, and no request takes too long.
import type { Clock } from "onceonly";

export function timeless(clock: Pick<Clock, "now">): Clock {
  return {
    now: () => clock.now(),
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        if (signal === undefined) resolve();
        else signal.addEventListener("abort", () => resolve());
      }),
  };
}
