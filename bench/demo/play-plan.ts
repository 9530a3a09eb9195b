// Plays every order of a plan on a stage that runs, waits until all is quiet, and reads the tables.
import { setTimeout as sleep } from "node:timers/promises";
import type { Faults } from "./faults.ts";
import { createGate, type Gate } from "./gate.ts";
import { createJournal } from "./journal.ts";
import type { Observation } from "./observation.ts";
import type { Plan } from "./plan.ts";
import type { ProgressState } from "./progress.ts";
import { playOrder } from "./scenes.ts";
import { createShopClient } from "./shop-client.ts";
import type { Stage } from "./stage.ts";

export interface PlayPlanOptions {
  readonly plan: Plan;
  readonly stage: Stage;
  /** Those that the stage was started with. */
  readonly faults: Faults;
  readonly signal: AbortSignal;
  readonly onProgress?: ((state: ProgressState) => void) | undefined;
  /** @default one with REQUESTS_AT_ONCE places */
  readonly gate?: Gate | undefined;
}

/** Each takes a process of the function; more of them would only wait for a processor. */
const REQUESTS_AT_ONCE = 8;
const PROGRESS_EVERY_MS = 100;
const QUIET_MS = 500;

/** @throws the signal's reason, once it aborts */
export async function playPlan(options: PlayPlanOptions): Promise<Observation> {
  const { plan, stage, faults, signal, onProgress, gate = createGate(REQUESTS_AT_ONCE) } = options;
  const journal = createJournal();
  const client = createShopClient({ url: stage.url, gate, journal, signal });
  const killBusyFunction = () => stage.createOrder.kill() !== undefined;
  const scenery = { client, gate, faults, journal, killBusyFunction, signal };

  const startedAtMs = Date.now();
  let done = 0;
  const tellProgress = () =>
    onProgress?.({
      done,
      total: plan.orders.length,
      requests: journal.requests,
      kills: journal.kills.length,
      lostAnswers: stage.lostAnswers(),
      seconds: Math.floor((Date.now() - startedAtMs) / 1000),
    });
  const ticking = setInterval(tellProgress, PROGRESS_EVERY_MS);
  const playing: Promise<void>[] = [];
  try {
    for (const order of plan.orders) {
      // Clients arrive as fast as the service takes them: a key's first try does not wait long for its turn.
      await gate.turn();
      signal.throwIfAborted();
      playing.push(playOrder(order, scenery).then(() => void done++));
    }
  } finally {
    // Also after an abort: nobody's client is left behind.
    await Promise.allSettled(playing);
    clearInterval(ticking);
  }
  await Promise.all(playing);
  signal.throwIfAborted();
  tellProgress();
  await untilQuiet(stage, signal);
  return {
    requests: journal.requests,
    answers: journal.answers,
    endings: journal.endings,
    gaveUp: journal.gaveUp,
    kills: journal.kills,
    lostAnswers: stage.lostAnswers(),
    throttles: faults.throttles,
    executions: await stage.tables.executions(),
    rows: await stage.tables.orders(),
  };
}

/** A function that nobody waits for any more may still be writing: what it does must be counted, too. */
async function untilQuiet(stage: Stage, signal: AbortSignal): Promise<void> {
  let before: number;
  do {
    before = stage.databaseRequests();
    await sleep(QUIET_MS, undefined, { signal });
  } while (stage.databaseRequests() !== before);
}
