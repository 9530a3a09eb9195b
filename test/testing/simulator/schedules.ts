// Many schedules, one after the other, and what to say of one that went wrong.
import { type Plan, type Played, planOf, play } from "./sample-world.ts";
import { faultsOf } from "./verdict.ts";

export interface Failure {
  readonly seed: number;
  readonly wrong: readonly string[];
  readonly trace: string;
}

export interface Tally {
  readonly schedules: number;
  readonly wholeChains: number;
  readonly ios: number;
  readonly faults: number;
}

/** Ends at the first that goes wrong. */
export async function playAll(
  seeds: Iterable<number>,
  adapt: (plan: Plan) => Plan = (plan) => plan,
): Promise<Tally & { readonly failure?: Failure }> {
  const tally = { schedules: 0, wholeChains: 0, ios: 0, faults: 0 };
  for (const seed of seeds) {
    const plan = adapt(planOf(seed));
    const played = await play(plan);
    count(tally, plan, played);
    const wrong = await faultsOf(plan, played);
    if (wrong.length > 0) return { ...tally, failure: { seed, wrong, trace: played.aws.traceText() } };
  }
  return tally;
}

export function* seedsFrom(first: number, count: number): Iterable<number> {
  for (let seed = first; seed < first + count; seed++) yield seed;
}

export function report({ seed, wrong, trace }: Failure): string {
  const again = `ONCEONLY_SEED=${seed} ONCEONLY_SCHEDULES=1 npx vitest run test/testing/simulator/schedules.test.ts`;
  return `schedule ${seed} went wrong: ${wrong.join("; ")}\nrun it again: ${again}\n${trace}`;
}

function count(tally: { -readonly [Name in keyof Tally]: Tally[Name] }, plan: Plan, { aws }: Played): void {
  tally.schedules++;
  if (plan.withPayments) tally.wholeChains++;
  for (const { kind, fault } of aws.trace) {
    if (kind === "io") tally.ios++;
    if (fault) tally.faults++;
  }
}
