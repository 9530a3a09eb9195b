// Disturbs processes: every now and then one is killed, stopped beyond its lease, or cut off from the database.
import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../demo/random.ts";
import type { Host } from "./host.ts";
import type { Tally } from "./tally.ts";
import type { Weather } from "./weather.ts";

export interface TurmoilOptions {
  readonly hosts: readonly Host[];
  readonly random: SeededRandom;
  readonly faults: Tally;
  readonly weather: Weather;
  readonly stopMs: () => number;
  readonly signal: AbortSignal;
}

/** Until the signal aborts. */
export async function causeTurmoil({
  hosts,
  random,
  faults,
  weather,
  stopMs,
  signal,
}: TurmoilOptions): Promise<void> {
  for (;;) {
    await sleep(random.integer(300, 1500), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const host = random.pick(hosts as [Host, ...Host[]]);
    const chance = random.fraction();
    if (chance < 0.3) {
      faults.add("SIGKILL");
      host.kill();
    } else if (chance < 0.8) {
      // At least one process must be left to take over.
      if (hosts.filter(({ isStopped }) => isStopped).length * 2 > hosts.length) continue;
      faults.add("SIGSTOP");
      host.stopFor(stopMs());
    } else {
      weather.blackOut(host, random.integer(300, 2500));
    }
  }
}
