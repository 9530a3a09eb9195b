/** Waits for what another part of this process is about to do, without letting virtual time pass. */
import type { FakeClock } from "../../../lib/testing/fake-clock.ts";

export async function untilSleeping(clock: FakeClock, sleepers = 1): Promise<void> {
  for (let turns = 0; clock.sleepers < sleepers; turns++) {
    if (turns > 100_000) throw new Error(`only ${clock.sleepers} of ${sleepers} went to sleep`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
