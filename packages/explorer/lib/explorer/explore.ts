/** The explorer: runs a handler under each fault at each of its I/Os, and counts the effects. */
import type { LambdaHandler } from "../simulator/simulated-function.ts";
import { adviceFor } from "./advice.ts";
import { type Disturbance, disturbancesOf } from "./disturbances.ts";
import type { Finding } from "./finding.ts";
import type { ExploreOptions } from "./options.ts";
import { type Assessment, assess } from "./oracles.ts";
import { type Play, play } from "./play.ts";
import { startProgress } from "./progress.ts";
import { quietConsole } from "./quiet-console.ts";
import { type ReferenceRun, referenceOf } from "./reference-run.ts";
import { ExploreReport } from "./report.ts";
import type { Accepted, HeldRuns, UndoneRuns } from "./report-parts.ts";
import { structureIn, turnedBackIn, undoingPlaces } from "./saga-runs.ts";
import { sampledPairs } from "./sampled-pairs.ts";
import { type ExploredEvent, reportName, type Scenario, scenarioOf } from "./scenario.ts";
import type { Symptom } from "./symptom.ts";
import { linesOf } from "./trace-lines.ts";
import { traceSteps } from "./trace-steps.ts";
import { START, undisturbedRuns } from "./undisturbed-runs.ts";
import { undisturbedWords } from "./undisturbed-words.ts";
import { assessUndone } from "./undone-runs.ts";
import { callKeyIn, usageIn } from "./usage.ts";
import { placeOf } from "./volatile-values.ts";
import { withoutStacks } from "./without-stacks.ts";

/**
 * Runs `handler` on `event` once undisturbed, and then again from the start for each fault at each of its
 * requests to DynamoDB, SQS and other systems. Faults are crashes, lost answers, throttling, timeouts, leases
 * that end, and duplicates. The event's source redelivers as the real one does.
 *
 * The effects are compared with those of the undisturbed run, and the report lists each one that happened twice,
 * was lost, changed or got stuck. The handler runs unchanged, in a deterministic AWS in memory.
 *
 * `event` may be a function that builds the event from the world after `setUp`.
 * @throws InvalidOptionError (`INVALID_OPTION`); Error if the undisturbed handler fails, responds with 4xx, makes no
 * request, or behaves differently in two runs. `expectedStatus` and `expectsNoRequest` allow the second and third.
 */
export async function explore(
  handler: LambdaHandler,
  event: ExploredEvent,
  options: ExploreOptions = {},
): Promise<ExploreReport> {
  const scenario = scenarioOf(handler, event, options);
  const restoreConsole = scenario.options.showsOutput ? () => {} : quietConsole();
  try {
    return await exploreAll(scenario);
  } finally {
    restoreConsole();
  }
}

async function exploreAll(scenario: Scenario): Promise<ExploreReport> {
  const { options } = scenario;
  const { one, other, firstOnly } = await undisturbedRuns(scenario);
  const reference = referenceOf(one, other, options);
  const { chosen, leftOut } = choose(scenario, reference);
  const withStacks = options.showsOutput || options.only !== undefined ? () => {} : withoutStacks();
  const { ios, effects } = reference.play;
  const name = reportName(scenario, ios);
  const bar = options.onProgress ? undefined : startProgress(name);
  const uses = usageIn(ios, scenario.idempotencyTables);
  const others = new Set(effects.filter(({ kind }) => kind !== "item").map(placeOf)).size;
  const known = { ios, name, uses, structure: structureIn(ios), hasSeveral: others > 1 };
  const findings: Finding[] = [];
  const accepted = new Map<string, Accepted>();
  const undoneAs = new Map([[turnedBackIn(reference.play.ios), reference.play]]);
  let held: HeldRuns | undefined;
  let undone: UndoneRuns | undefined;
  try {
    for (const [index, disturbance] of chosen.entries()) {
      const run = await playDisturbed(scenario, disturbance);
      const turned = turnedBackIn(run.ios);
      const like = turned === undefined ? undefined : (undoneAs.get(turned) ?? run);
      if (turned && like) {
        undoneAs.set(turned, like);
        undone = { disturbance: disturbance.words, ...undone, runs: (undone?.runs ?? 0) + 1 };
      }
      if (run.held.length > 0) held = withRun(held, run, disturbance);
      for (const assessment of like ? assessUndone(run, like, reference) : assess(run, reference)) {
        const isAccepted = noteAccepted(accepted, assessment, run, disturbance, scenario);
        if (!isAccepted) findings.push(findingOf(assessment, known, run, disturbance, scenario));
      }
      options.onProgress?.(index + 1, chosen.length);
      bar?.step(index + 1, chosen.length);
    }
  } finally {
    bar?.end();
    withStacks();
  }
  return new ExploreReport({
    name,
    points: reference.points,
    runs: chosen.length + 2,
    findings,
    accepted: [...accepted.values()],
    held,
    undone,
    seed: scenario.options.seed,
    undisturbed: undisturbedWords(one),
    leftOut,
    masked: reference.volatile.names,
    firstOnly,
  });
}

function withRun(before: HeldRuns | undefined, { held }: Play, { words }: Disturbance): HeldRuns {
  const { runs, disturbance, lastErrors } = before ?? { runs: 0, disturbance: words, lastErrors: [] };
  const errors = [...lastErrors];
  for (const error of held) {
    if (error && !errors.some(({ name }) => name === error.name)) errors.push(error);
  }
  return { runs: runs + 1, disturbance, lastErrors: errors };
}

function choose(scenario: Scenario, { play: { ios }, points }: ReferenceRun) {
  const { maxRuns, only, depth, seed } = scenario.options;
  const all = disturbancesOf(ios, points, scenario.durations);
  if (depth === 2) all.push(...sampledPairs(all, scenario.durations, seed));
  const wanted = only === undefined ? all : all.filter(({ id }) => id === only);
  if (wanted.length === 0)
    throw new Error(`no disturbance has the id ${JSON.stringify(only)}: use the id of a finding`);
  return { chosen: wanted.slice(0, maxRuns), leftOut: Math.max(0, wanted.length - maxRuns) };
}

function playDisturbed(scenario: Scenario, disturbance: Disturbance): Promise<Play> {
  return play(scenario, { seed: scenario.options.seed, startAt: START, disturbance });
}

/** What the undisturbed run reveals about the handler. */
interface Known extends Pick<Symptom, "uses" | "structure" | "hasSeveral"> {
  readonly name: string;
  readonly ios: Play["ios"];
}

function findingOf(
  { what, ...assessment }: Assessment,
  { name, ios, ...known }: Known,
  run: Play,
  { id, words, point }: Disturbance,
  scenario: Scenario,
): Finding {
  const { kind, effect } = assessment;
  const isUndoing = effect !== undefined && undoingPlaces(run.ios).has(effect.place);
  const steps = traceSteps(run, scenario.name, name);
  const callKey = effect?.kind === "call" ? callKeyIn(run.ios, ios, effect.place) : "none";
  const advice = adviceFor({ ...assessment, ...known, callKey, isUndoing, source: run.source.kind });
  return {
    kind,
    point,
    disturbance: words,
    id,
    what,
    trace: linesOf(steps),
    steps,
    seed: scenario.options.seed,
    advice,
  };
}

/** Whether the options allow the effect more than once; if so, the report lists how often it happened. */
function noteAccepted(
  accepted: Map<string, Accepted>,
  { kind, effect }: Assessment,
  run: Play,
  { words }: Disturbance,
  { options }: Scenario,
): boolean {
  if (kind !== "happens-twice" || effect === undefined) return false;
  const found = run.effectsAfterwards.filter(
    ({ kind, place }) => kind === effect.kind && place === effect.place,
  );
  const isNamed = (name: string) =>
    effect.kind === "call"
      ? effect.place.split(" ").some((part) => part.startsWith(name))
      : effect.place === name;
  if (!options.atLeastOnce?.some(isNamed)) return false;
  const former = accepted.get(effect.place);
  if (former === undefined || former.most < found.length) {
    accepted.set(effect.place, { call: effect.place, most: found.length, disturbance: words });
  }
  return true;
}
