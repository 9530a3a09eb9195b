// One run of the demo: starts the stage, plays the plan on it, and takes the stage down again.
import { setMaxListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { createInterference } from "./interference.ts";
import type { Observation } from "./observation.ts";
import type { Plan } from "./plan.ts";
import { playPlan } from "./play-plan.ts";
import type { ProgressState } from "./progress.ts";
import { type Stage, startStage } from "./stage.ts";

export interface RunDemoOptions {
  readonly plan: Plan;
  /** The folder of the CDK app, or of what it was synthesized to. @default - the sample's */
  readonly folder?: string | undefined;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly signal: AbortSignal;
  readonly onStarted?: ((stage: Stage) => void) | undefined;
  readonly onProgress?: ((state: ProgressState) => void) | undefined;
}

export const SAMPLE_FOLDER = fileURLToPath(new URL("../../../", import.meta.url));

/** Leaves nothing running, however it ends. @throws the signal's reason, once it aborts */
export async function runDemo(options: RunDemoOptions): Promise<Observation> {
  const { plan, folder = SAMPLE_FOLDER, dynamodbEndpoint, signal, onStarted, onProgress } = options;
  // Every request of every client listens for the end.
  setMaxListeners(0, signal);
  const interference = createInterference(plan);
  const stage = await startStage({ folder, dynamodbEndpoint, interference, signal });
  try {
    onStarted?.(stage);
    return await playPlan({ plan, stage, interference, signal, onProgress });
  } finally {
    await stage.stop();
  }
}
