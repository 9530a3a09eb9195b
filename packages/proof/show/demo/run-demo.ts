// One run of the demo: plays the plan on the sample with onceonly and without, each in a stack of its own, on one engine.
import { setMaxListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { type DynamoDBEngine, startDynamoDB } from "../../../local/lib/index.ts";
import { synthesize } from "../../../local/lib/stack/synthesize.ts";
import { createUndoList } from "../../../local/lib/stack/undo-list.ts";
import { createInterference, createInterferenceWithout } from "./interference.ts";
import type { Observation } from "./observation.ts";
import type { Plan } from "./plan.ts";
import { playPlan } from "./play-plan.ts";
import type { Progress } from "./progress.ts";
import { startStage } from "./stage.ts";
import { planWithout } from "./without/plan-without.ts";
import { sampleWithout } from "./without/sample-without.ts";

export interface RunDemoOptions {
  readonly plan: Plan;
  /** What is played; the sample can also be played only without onceonly. */
  readonly columns: readonly (keyof Observations)[];
  /** The folder of the CDK app, or of its synthesis. @default - the sample's */
  readonly folder?: string | undefined;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly signal: AbortSignal;
  readonly progress: Pick<Progress, "prepare" | "show">;
}

export interface PlayColumnOptions extends Omit<RunDemoOptions, "columns" | "folder"> {
  /** Called when all clients have their answers. */
  readonly onRest?: (() => void) | undefined;
}

export interface Observations {
  onceonly?: Observation;
  without?: Observation;
}

export const SAMPLE_FOLDER = fileURLToPath(new URL("../../../../", import.meta.url));

/** Leaves nothing running, however it ends. @throws the signal's reason, once it aborts */
export async function runDemo(options: RunDemoOptions): Promise<Observations> {
  const { columns, folder = SAMPLE_FOLDER, dynamodbEndpoint, signal, progress } = options;
  // Every request of every client listens for the end.
  setMaxListeners(0, signal);
  const undo = createUndoList();
  const observations: Observations = {};
  try {
    progress.prepare("starting DynamoDB, and bundling the functions of the sample");
    const starting = startDynamoDB({ endpoint: dynamodbEndpoint });
    undo.add(async () => (await starting.catch(() => undefined))?.stop());
    const assembly = await synthesizeWhile(starting, folder, signal);
    undo.add(assembly.remove);
    const { endpoint } = await starting;
    const play = async (column: keyof Observations, onRest?: () => void) => {
      const given = { ...options, dynamodbEndpoint: endpoint, onRest };
      observations[column] = await playColumn(column, assembly.folder, given);
    };
    if (columns.length === 1) await play(columns[0]!);
    else await playBoth(play);
    return observations;
  } finally {
    await undo.run();
  }
}

/** While onceonly's column waits for the leases of killed processes, the machine has time for the other one. */
async function playBoth(play: (column: keyof Observations, onRest?: () => void) => Promise<void>) {
  let without: Promise<void> | undefined;
  const playWithout = () => {
    without ??= play("without");
    without.catch(() => undefined);
  };
  await play("onceonly", playWithout).finally(() => without?.catch(() => undefined));
  await without;
}

/** Ends immediately if the engine can't start. */
async function synthesizeWhile(starting: Promise<DynamoDBEngine>, folder: string, signal: AbortSignal) {
  const noEngine = new AbortController();
  starting.catch((error: unknown) => noEngine.abort(error));
  const context = { ephemeral: "true" };
  return synthesize({ folder, context, signal: AbortSignal.any([noEngine.signal, signal]) });
}

/** @param assembly the folder of the synthesized sample */
export async function playColumn(
  column: keyof Observations,
  assembly: string,
  { dynamodbEndpoint, signal, progress, onRest, ...given }: PlayColumnOptions,
): Promise<Observation> {
  const isOurs = column === "onceonly";
  const name = isOurs ? "with onceonly" : "without onceonly";
  progress.prepare(`deploying the sample ${name}`);
  const undo = createUndoList();
  try {
    const plan = isOurs ? given.plan : planWithout(given.plan);
    const interference = isOurs ? createInterference(plan) : createInterferenceWithout(plan);
    const { folder, remove } = isOurs
      ? { folder: assembly, remove: undefined }
      : await sampleWithout(assembly);
    if (remove) undo.add(remove);
    const stage = await startStage({ folder, dynamodbEndpoint, interference, hasRecords: isOurs, signal });
    undo.add(stage.stop);
    return await playPlan({
      plan,
      stage,
      interference,
      signal,
      onProgress(state) {
        progress.show({ ...state, column: name });
        if (state.phase === "redeliveries") onRest?.();
      },
    });
  } finally {
    await undo.run();
  }
}
