/** One run of a handler from the start, in a new world, with at most one disturbance. */
import type { SimulatedFunction } from "../simulator/simulated-function.ts";
import type { Simulator } from "../simulator/simulator.ts";
import type { Disturbance } from "./disturbances.ts";
import type { Effect } from "./effect.ts";
import { exploredFunction } from "./explored-function.ts";
import { Interference } from "./interference.ts";
import type { HeldError } from "./item-effects.ts";
import { reportName, type Scenario } from "./scenario.ts";
import type { Source, SourceAnswer, SourceStage } from "./source.ts";
import { queueNameOf } from "./sources/queue-record.ts";
import { recordsIn } from "./sources/records-in.ts";
import { sourceKindOf, sourceOf } from "./sources/source-of.ts";
import { traceLines } from "./trace-lines.ts";
import type { TracedRun } from "./trace-steps.ts";
import { type LateRequest, Unawaited } from "./unawaited.ts";
import { ExploredWorld } from "./world.ts";

/** The result of a run. */
export interface Play extends TracedRun {
  /** The last answer to the source's own deliveries. */
  readonly last: SourceAnswer | undefined;
  /** The answer to the repetition afterwards. */
  readonly repeated: SourceAnswer | undefined;
  /** How long the source went on, in ms. */
  readonly tookMs: number;
  /** The effects before the run, when the source was done, and after the repetition. */
  readonly before: readonly Effect[];
  readonly effects: readonly Effect[];
  readonly effectsAfterwards: readonly Effect[];
  /** Requests of invocations that had already ended. */
  readonly unawaited: readonly LateRequest[];
  readonly reusedKeys: readonly string[];
  /** The last error of each key that is held at the end; `undefined` if the record has none. */
  readonly held: readonly HeldError[];
  /** The commits whose messages nothing has sent at the end. */
  readonly unsent: number;
}

export interface PlaySettings {
  readonly seed: number;
  readonly startAt: number;
  /** With a repetition, the event is delivered once more after everything is done. */
  readonly disturbance?: Disturbance | undefined;
}

/** How much later a duplicate arrives. */
const SHORTLY_MS = 5;
/**
 * The repetition comes when DynamoDB's client request token (10 minutes) and a FIFO queue (5) have forgotten.
 */
const FORGOTTEN_MS = 660_000;

/** @throws Error if the handler needs something that the simulation doesn't have, even if it swallows the error */
export async function play(scenario: Scenario, settings: PlaySettings): Promise<Play> {
  const world = new ExploredWorld(scenario, settings);
  const { aws } = world;
  const interference = new Interference(settings.disturbance);
  const unawaited = new Unawaited(() => aws.trace);
  aws.faults = (io) => {
    unawaited.note(io);
    return interference.faultFor(io);
  };
  const run = await aws.run(async (): Promise<Play> => {
    await scenario.options.setUp?.(aws);
    await aws.untilIdle();
    const noteStart = () => interference.noteStart();
    const newFunction = (generation: number) => exploredFunction(scenario, aws, { generation, noteStart });
    const answers: SourceAnswer[] = [];
    const own: SourceAnswer[] = [];
    const stage = await stageOf(scenario, settings, aws, newFunction(0), (answer) => {
      own.push(answer);
      answers.push(answer);
    });
    const source = sourceOf(scenario.options.source ?? sourceKindOf(stage.event), stage.event);
    const repeat = async (fn = stage.fn) => {
      const answer = await source.repeat({ ...stage, fn });
      answers.push(answer);
      return answer;
    };
    await source.prepare(stage);
    await world.ageItems();
    const before = await world.items();
    const from = aws.trace.length;
    const startedAt = aws.clock.now();

    interference.arm();
    let duplicate: Promise<unknown> | undefined;
    void interference.duplicateDue.then(() => {
      duplicate = aws.clock.sleep(SHORTLY_MS).then(() => repeat());
    });
    await source.deliver(stage);
    const tookMs = aws.clock.now() - startedAt;
    if (settings.disturbance?.duplicate === "right-after") {
      await aws.clock.sleep(SHORTLY_MS);
      const readAgain = interference.readStale();
      await repeat();
      readAgain();
    }
    await world.settle();
    await duplicate;
    interference.rest();
    const readEffects = () => world.effects(sourceQueueOf(source, stage));
    const effects = await readEffects();

    let repeated: SourceAnswer | undefined;
    if (settings.disturbance !== undefined) {
      await aws.clock.sleep(FORGOTTEN_MS);
      repeated = await repeat(scenario.options.perEnvironment ? newFunction(1) : stage.fn);
      await world.settle();
    }
    const effectsAfterwards = repeated === undefined ? effects : await readEffects();
    unawaited.readOn();
    return {
      source,
      ios: interference.ios,
      answers,
      last: own.at(-1),
      repeated,
      tookMs,
      before,
      effects,
      effectsAfterwards,
      unawaited: unawaited.requests,
      reusedKeys: world.outside.reusedKeys(),
      held: await world.held(),
      unsent: await world.unsent(),
      trace: aws.trace.slice(from),
    };
  });
  checkAllSeen(run, scenario, settings.disturbance);
  return run;
}

/** Without these requests the result would say nothing about their effects. */
function checkAllSeen(run: Play, scenario: Scenario, disturbance: Disturbance | undefined): void {
  const refused = run.trace.find(({ kind }) => kind === "refused");
  if (refused === undefined) return;
  const when = disturbance === undefined ? "without any disturbance" : `in the run with ${disturbance.words}`;
  const name = reportName(scenario, run.ios);
  throw new Error(
    `${name} makes a request that the simulation can't answer, ${when}: ${refused.text}\n${traceLines(run, scenario.name, name)}`,
  );
}

async function stageOf(
  { options, event, patienceMs }: Scenario,
  { disturbance }: PlaySettings,
  aws: Simulator,
  fn: SimulatedFunction,
  note: SourceStage["note"],
): Promise<SourceStage> {
  return {
    ...options,
    aws,
    fn,
    clock: aws.clock,
    event: typeof event === "function" ? await event(aws) : event,
    newId: aws.random.stream("requests").token,
    isDisturbed: disturbance !== undefined,
    patienceMs,
    note,
  };
}

function sourceQueueOf({ kind }: Source, { event }: SourceStage): string | undefined {
  return kind === "sqs" ? queueNameOf(recordsIn(event)) : undefined;
}
