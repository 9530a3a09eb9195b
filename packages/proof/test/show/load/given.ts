// A load run in this process, with its thresholds.
import { answerThresholds } from "../../../show/load/answer-thresholds.ts";
import { effectThresholds } from "../../../show/load/effect-thresholds.ts";
import type { Observed } from "../../../show/load/observed.ts";
import type { LoadOptions } from "../../../show/load/options.ts";
import { planLoad } from "../../../show/load/plan-load.ts";
import { runLoad } from "../../../show/load/run-load.ts";
import { isBroken, type Threshold } from "../../../show/load/threshold.ts";

export interface Judged {
  readonly observed: Observed;
  readonly thresholds: readonly Threshold[];
  /** The names of those that are broken. */
  readonly broken: readonly string[];
}

export async function judgeRun(options: LoadOptions, dynamodbEndpoint?: string): Promise<Judged> {
  const plan = planLoad(options);
  const observed = await runLoad({
    plan,
    options,
    dynamodbEndpoint,
    signal: new AbortController().signal,
    progress: { step: () => undefined },
  });
  const hasFaults = options.target.kind === "own" && options.target.faults;
  const thresholds = [
    ...answerThresholds(observed, { hasFaults }),
    ...effectThresholds(plan, observed.effects),
  ];
  return { observed, thresholds, broken: thresholds.filter(isBroken).map(({ name }) => name) };
}
