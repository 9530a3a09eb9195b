// One run of the demo: starts the stage, plays the plan on it, and takes the stage down again.
import { setMaxListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { createFaults } from "./faults.ts";
import type { Observation } from "./observation.ts";
import type { Plan } from "./plan.ts";
import { playPlan } from "./play-plan.ts";
import type { ProgressState } from "./progress.ts";
import { type Stage, startStage } from "./stage.ts";

export interface RunDemoOptions {
  readonly plan: Plan;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly signal: AbortSignal;
  readonly onStarted: (stage: Stage) => void;
  readonly onProgress: (state: ProgressState) => void;
}

export const SAMPLE_FOLDER = fileURLToPath(new URL("../../", import.meta.url));

/** Leaves nothing running, however it ends. @throws the signal's reason, once it aborts */
export async function runDemo(options: RunDemoOptions): Promise<Observation> {
  const { plan, dynamodbEndpoint, signal, onStarted, onProgress } = options;
  // Every request of every client listens for the end.
  setMaxListeners(0, signal);
  const faults = createFaults(plan);
  const stage = await startStage({ folder: SAMPLE_FOLDER, dynamodbEndpoint, decide: faults.decide, signal });
  try {
    onStarted(stage);
    return await playPlan({ plan, stage, faults, signal, onProgress });
  } finally {
    await stage.stop();
  }
}
