// Whether the machine is quiet enough to measure time. The load average lags by a minute and includes our own work, so this
// looks at the processors for a moment while the benchmark itself does nothing.
import { type CpuInfo, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Other work may use at most this share of the processors. */
const MAX_BUSY_SHARE = 0.15;

const WATCHED_MS = 3000;

/** The share of processor time that other processes use now, from 0 to 1. */
export async function busyShare(): Promise<number> {
  const before = cpus();
  await sleep(WATCHED_MS);
  return shareBetween(before, cpus());
}

type Times = Pick<CpuInfo, "times">;

export function shareBetween(before: readonly Times[], after: readonly Times[]): number {
  const total = (all: readonly Times[]) =>
    all.flatMap(({ times }) => Object.values(times)).reduce((sum, ms) => sum + ms, 0);
  const idle = (all: readonly Times[]) => all.reduce((sum, { times }) => sum + times.idle, 0);
  const passed = total(after) - total(before);
  return passed > 0 ? 1 - (idle(after) - idle(before)) / passed : 0;
}

/** @throws Error if other work would distort what is measured */
export function refuseBusy(name: string, share: number): void {
  if (share <= MAX_BUSY_SHARE) return;
  throw new Error(
    `the machine is busy: other processes use ${Math.round(share * 100)} % of its processors, and at most ${MAX_BUSY_SHARE * 100} % are allowed while "${name}" is timed; wait, or pass --quick to print figures without writing them`,
  );
}
