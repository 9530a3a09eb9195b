// Many schedules, one after the other, and what to say of one that went wrong.
import type { Simulator } from "../../../lib/simulator/simulator.ts";

/** One schedule: a seed decides what happens in it, and what is wrong after it. */
export interface Schedule {
  readonly aws: Simulator;
  /** In words; nothing if all is well. */
  readonly wrong: readonly string[];
  /** What is counted of it, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Failure {
  readonly seed: number;
  readonly wrong: readonly string[];
  readonly trace: string;
}

export interface Tally {
  readonly schedules: number;
  readonly ios: number;
  readonly faults: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Ends at the first that goes wrong. */
export async function playAll(
  seeds: Iterable<number>,
  playOne: (seed: number) => Promise<Schedule>,
): Promise<Tally & { readonly failure?: Failure }> {
  const tally = { schedules: 0, ios: 0, faults: 0, counts: {} as Record<string, number> };
  for (const seed of seeds) {
    const { aws, wrong, counts } = await playOne(seed);
    tally.schedules++;
    for (const { kind, fault } of aws.trace) {
      if (kind === "io") tally.ios++;
      if (fault) tally.faults++;
    }
    for (const [name, count] of Object.entries(counts))
      tally.counts[name] = (tally.counts[name] ?? 0) + count;
    if (wrong.length > 0) return { ...tally, failure: { seed, wrong, trace: aws.traceText() } };
  }
  return tally;
}

export function* seedsFrom(first: number, count: number): Iterable<number> {
  for (let seed = first; seed < first + count; seed++) yield seed;
}

export function summary({ schedules, ios, faults, counts }: Tally): string {
  const counted = Object.entries(counts).map(([name, count]) => `, ${count} ${name}`);
  return `${schedules} schedules${counted.join("")}: ${ios} I/Os, ${faults} faults\n`;
}

/** `file` is that of the test. */
export function report({ seed, wrong, trace }: Failure, file = "schedules"): string {
  const again = `ONCEONLY_SEED=${seed} ONCEONLY_SCHEDULES=1 npx vitest run packages/explorer/test/simulator/${file}.test.ts`;
  return `schedule ${seed} went wrong: ${wrong.join("; ")}\nrun it again: ${again}\n${trace}`;
}
