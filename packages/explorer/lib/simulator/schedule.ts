/** A schedule: invokes a function at regular times, without waiting for the function. */
import type { SimulatedFunction } from "./simulated-function.ts";
import type { Stage } from "./stage.ts";

export function runSchedule({ time }: Stage, ms: number, fn: SimulatedFunction, event: unknown): void {
  const tick = () => {
    time.after(ms, tick);
    void fn.invokeAsync(event);
  };
  time.after(ms, tick);
}
