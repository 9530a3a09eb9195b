// The clock of a host whose time is off.
import type { Clock } from "onceonly/store-kit";
import { systemClock } from "../../../../../lib/core/clock.ts";

export function skewedClock(skewMs: number): Clock {
  return { now: () => Date.now() + skewMs, sleep: systemClock.sleep };
}
