// One mode from its control to its last round.
import { fractionOf } from "../demo/random.ts";
import { createFindings, type Finding } from "./findings.ts";
import { OF_NO_FENCE } from "./judge/violation.ts";
import { playRound } from "./round.ts";
import { type Stage, type StageOptions, startStage } from "./stage.ts";
import type { Mode, Variant } from "./variants.ts";

export interface RunModeOptions extends Omit<StageOptions, "isFenced"> {
  readonly keysPerSecond: number;
  readonly variants: readonly [Variant, ...Variant[]];
  readonly control: "first" | "only" | "none";
  /** Epoch ms by which it is over. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** The control's result: its first finding, if any. */
export interface ControlReport {
  readonly found: string | undefined;
  readonly seconds: number;
}

export interface ModeReport {
  readonly mode: Mode;
  readonly seed: number;
  readonly control: ControlReport | undefined;
  readonly rounds: number;
  readonly seconds: number;
  readonly subjects: number;
  readonly calls: number;
  readonly runs: number;
  readonly requests: number;
  readonly longestFinishMs: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, number>>;
  readonly decisions: Readonly<Record<string, number>>;
  readonly violations: number;
  readonly findings: readonly Finding[];
}

const STORM_SECONDS = 15;
/** A round of the control is short: it is over when something was found. */
const CONTROL_STORM_SECONDS = 6;
const CONTROL_SECONDS = 180;
/** How long a calm lasts. */
const CALM_SECONDS = 9;
const SHORTEST_STORM_SECONDS = 3;
const CONTROL_PATIENCE_MS = 3000;
/** On a slow machine. */
const PATIENCE_MS = 90_000;
const MINUTE_MS = 60_000;

export async function runMode(options: RunModeOptions): Promise<ModeReport> {
  const { mode, seed } = options;
  const control = options.control === "none" ? undefined : await runControl(options);
  const findings = createFindings();
  const sums = { rounds: 0, subjects: 0, calls: 0, runs: 0, longestFinishMs: 0 };
  const startMs = Date.now();
  const report = (stage?: Stage): ModeReport => ({
    mode,
    seed,
    control,
    ...sums,
    seconds: Math.round((Date.now() - startMs) / 1000),
    requests: stage?.requests() ?? 0,
    faults: stage?.faults.toJSON() ?? {},
    answers: stage?.answers.toJSON() ?? {},
    decisions: stage?.decisions.toJSON() ?? {},
    violations: findings.count,
    findings: findings.all,
  });
  if (options.control === "only") return report();

  const stage = await startStage({ ...options, isFenced: true });
  const minutes = setInterval(() => options.print(minuteLine(report(stage))), MINUTE_MS);
  try {
    for (;;) {
      const secondsLeft = (options.untilMs - Date.now()) / 1000 - CALM_SECONDS;
      if (secondsLeft < SHORTEST_STORM_SECONDS) break;
      const round = await playRound(stage, {
        ...options,
        number: ++sums.rounds,
        seed: seedOf(seed, mode, sums.rounds),
        stormSeconds: Math.min(STORM_SECONDS, secondsLeft),
        patienceMs: PATIENCE_MS,
      });
      sums.subjects += round.subjects;
      sums.calls += round.calls;
      sums.runs += round.runs;
      sums.longestFinishMs = Math.max(sums.longestFinishMs, round.longestFinishMs);
      for (const violation of round.violations) {
        if (findings.add(violation)) {
          const { example, trace } = findings.all.at(-1) as Finding;
          options.print([`${mode}: VIOLATION in round ${sums.rounds}: ${example}`, ...trace].join("\n"));
        }
      }
    }
    return report(stage);
  } finally {
    clearInterval(minutes);
    await stage.end();
  }
}

/** Plays with a store that has no fence, until something is wrong. */
async function runControl(options: RunModeOptions): Promise<ControlReport> {
  const { mode, seed, print } = options;
  const startMs = Date.now();
  const seconds = () => Math.round((Date.now() - startMs) / 1000);
  const stage = await startStage({ ...options, isFenced: false });
  try {
    for (let number = 1; seconds() < CONTROL_SECONDS; number++) {
      const { violations } = await playRound(stage, {
        ...options,
        number,
        seed: seedOf(seed, `${mode} control`, number),
        stormSeconds: CONTROL_STORM_SECONDS,
        // Whatever is broken there may stay so for ever.
        patienceMs: CONTROL_PATIENCE_MS,
      });
      const first = violations.find(({ kind }) => OF_NO_FENCE.includes(kind));
      if (!first) continue;
      print(`${mode}: the control without a fence is seen after ${seconds()} s: ${first.kind}`);
      return { found: first.kind, seconds: seconds() };
    }
    print(`${mode}: NOTHING was found in the control within ${seconds()} s: the campaign sees nothing`);
    return { found: undefined, seconds: seconds() };
  } finally {
    await stage.end();
  }
}

function seedOf(seed: number, name: string, round: number): number {
  return Math.floor(fractionOf(String(seed), name, String(round)) * 2 ** 32);
}

function minuteLine({
  mode,
  seconds,
  rounds,
  subjects,
  calls,
  requests,
  faults,
  violations,
}: ModeReport): string {
  const faultCount = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return `${mode}: ${Math.round(seconds / 60)} min, ${rounds} rounds, ${subjects} keys, ${calls} calls, ${requests} requests, ${faultCount} faults, ${violations} violations`;
}
