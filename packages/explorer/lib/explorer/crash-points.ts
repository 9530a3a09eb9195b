/** Crashes of one invocation, and the record that each leaves: to find the crash that left a record somewhere else. */
import { ATTRIBUTES } from "onceonly/kit";
import type { LambdaHandler } from "../simulator/simulated-function.ts";
import type { Disturbance } from "./disturbances.ts";
import { disturbancesOf } from "./disturbances.ts";
import { exploredFunction } from "./explored-function.ts";
import type { Point } from "./finding.ts";
import { Interference } from "./interference.ts";
import { recordsOf } from "./item-effects.ts";
import type { ExploreOptions } from "./options.ts";
import { quietConsole } from "./quiet-console.ts";
import { referenceOf } from "./reference-run.ts";
import { type ExploredEvent, type Scenario, scenarioOf } from "./scenario.ts";
import { sourceKindOf, sourceOf } from "./sources/source-of.ts";
import { linesOf } from "./trace-lines.ts";
import { traceSteps } from "./trace-steps.ts";
import { START, undisturbedRuns } from "./undisturbed-runs.ts";
import { ExploredWorld } from "./world.ts";

/** The part of a record that a crash decides. */
export interface RecordShape {
  /** `absent` if there is none. */
  readonly state: string;
  /** The states of the steps, by their names. */
  readonly steps: Readonly<Record<string, string>>;
}

/** A crash, and the state after it. */
export interface CrashPoint extends RecordShape {
  /** "7 crash-after": the option `only` of `explore` plays it again. */
  readonly id: string;
  /** "a crash after point 7 (dynamodb PutItem orders)" */
  readonly words: string;
  /** The lines of the run, up to the crash. */
  readonly trace: string;
}

/**
 * Invokes a handler once for each point at which it can crash, in the simulator, and stops there.
 * @param operation the record that is looked at has this operation
 * @throws as `explore`
 */
export async function crashPoints(
  handler: LambdaHandler,
  event: ExploredEvent,
  { operation, ...options }: ExploreOptions & { readonly operation: string },
): Promise<{ readonly points: readonly Point[]; readonly crashes: readonly CrashPoint[] }> {
  const scenario = scenarioOf(handler, event, options);
  const restoreConsole = quietConsole();
  try {
    const { one, other } = await undisturbedRuns(scenario);
    const { points } = referenceOf(one, other, scenario.options);
    const disturbances = disturbancesOf(one.ios, points, scenario.durations);
    const crashes: CrashPoint[] = [];
    for (const disturbance of disturbances.filter(({ fault }) => fault?.kind === "crash")) {
      crashes.push(await crashAt(scenario, disturbance, operation));
    }
    return { points, crashes };
  } finally {
    restoreConsole();
  }
}

async function crashAt(scenario: Scenario, disturbance: Disturbance, operation: string): Promise<CrashPoint> {
  const { options, name, event: given } = scenario;
  const { aws } = new ExploredWorld(scenario, { seed: options.seed, startAt: START });
  const interference = new Interference(disturbance);
  aws.faults = (io) => interference.faultFor(io);
  return aws.run(async () => {
    await options.setUp?.(aws);
    await aws.untilIdle();
    const event = typeof given === "function" ? await given(aws) : given;
    const fn = exploredFunction(scenario, aws, { generation: 0, noteStart: () => {} });
    const source = sourceOf(options.source ?? sourceKindOf(event), event);
    const from = aws.trace.length;
    interference.arm();
    await fn.invoke(event);
    const records = await Promise.all(
      scenario.idempotencyTables.map((table) => recordsOf(aws.dynamodb, table)),
    );
    const record = records
      .flat()
      .find((each) => `${each[ATTRIBUTES.partitionKey]}`.startsWith(`${operation}#`));
    const run = { trace: aws.trace.slice(from), ios: interference.ios, answers: [], source };
    const steps = traceSteps(run, name, options.name ?? operation);
    return { id: disturbance.id, words: disturbance.words, trace: linesOf(steps), ...shapeOf(record) };
  });
}

function shapeOf(record: Readonly<Record<string, unknown>> | undefined): RecordShape {
  if (record === undefined) return { state: "absent", steps: {} };
  const steps = Object.entries(
    Object(record[ATTRIBUTES.steps]) as Record<string, { readonly state: string }>,
  );
  return {
    state: `${record[ATTRIBUTES.state]}`,
    steps: Object.fromEntries(steps.map(([step, { state }]) => [step, state])),
  };
}
