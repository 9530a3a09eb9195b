// Plays a plan on a running stage, phase by phase, waits until all is quiet, and reports what it saw.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { DispatchKind } from "./dispatch-plan.ts";
import { setUpDisturbances } from "./disturbances.ts";
import type { Gate } from "./gate.ts";
import type { Interference } from "./interference.ts";
import { createJournal, type Journal } from "./journal.ts";
import { playKills } from "./kills.ts";
import type { Observation } from "./observation.ts";
import { observe } from "./observe.ts";
import { playOutage, playSweep } from "./outages.ts";
import type { Plan } from "./plan.ts";
import { createPlayers, type Players } from "./players.ts";
import type { Phase, ProgressState } from "./progress.ts";
import { playSagas } from "./sagas/play-sagas.ts";
import type { SagasPlayed } from "./sagas/saga-observation.ts";
import { settle } from "./settle.ts";
import type { Stage } from "./stage.ts";

export interface PlayPlanOptions {
  readonly plan: Plan;
  readonly stage: Stage;
  /** The plan that the stage was started with. */
  readonly interference: Interference;
  readonly signal: AbortSignal;
  readonly onProgress?: ((state: ProgressState) => void) | undefined;
  /** @default one for as many requests as this machine can handle */
  readonly gate?: Gate | undefined;
}

const PROGRESS_EVERY_MS = 100;
const QUIET_MS = 500;

/** @throws the signal's reason, once it aborts */
export async function playPlan(options: PlayPlanOptions): Promise<Observation> {
  const { plan, stage, interference, signal, gate } = options;
  const { clock, faults } = interference;
  const journal = createJournal();
  const { mendGateway } = setUpDisturbances({ plan, stage, interference, journal });
  const players = createPlayers({ stage, journal, faults, signal, gate });
  const progress = tellingProgress(options, journal, players);
  const outage = { stage, interference, journal, letIn: players.letIn, signal };
  const over = new AbortController();
  const { sagas } = plan;
  let playingSagas: Promise<SagasPlayed> | undefined;
  const ordersOf = (...kinds: DispatchKind[]) =>
    plan.orders.filter(({ dispatch }) => kinds.includes(dispatch.kind));

  try {
    // They fail from now on, and no client notices.
    await stage.receipts.commit(plan.receipts);
    progress.enter("stream off");
    await playOutage({ sentTwice: ordersOf("sent-twice"), late: ordersOf("late") }, outage);
    progress.enter("sweeper");
    await playSweep(ordersOf("swept"), outage);
    progress.enter("orders");
    // While they wait for leases there is time for the others.
    const untilOver = AbortSignal.any([signal, over.signal]);
    setMaxListeners(0, untilOver);
    playingSagas = playSagas({ sagas, kills: interference.sagaKills, stage, signal: untilOver });
    playingSagas.catch(() => undefined);
    await playKills(ordersOf("relayed", "relay-killed"), { journal, letIn: players.letIn, signal });
    await players.allAnswered();
    progress.enter("redeliveries");
    await settle({ stage, clock, signal });
    progress.enter("redrive");
    mendGateway();
    const redriven = await stage.queues.redrive();
    await settle({ stage, clock, signal });
    progress.enter("parked messages");
    const receipts = await stage.receipts.parkAndSendAgain();
    progress.enter("sagas");
    const played = await playingSagas;
    await untilQuiet(stage, signal);
    return await observe({
      ...{ stage, interference, journal, redriven, receipts },
      sagas: { planned: sagas, played },
    });
  } finally {
    // Even after an abort: no client is left running.
    over.abort(new Error("the run has ended"));
    await players.allAnswered().catch(() => undefined);
    await playingSagas?.catch(() => undefined);
    progress.end();
  }
}

function tellingProgress(
  { plan, stage, interference, onProgress }: PlayPlanOptions,
  journal: Journal,
  players: Players,
) {
  const startedAtMs = Date.now();
  let phase: Phase = "stream off";
  const printProgress = () => {
    const acknowledged = stage.deliveries.all.filter(({ end }) => end === "acknowledged");
    onProgress?.({
      phase,
      total: plan.orders.length,
      answered: players.answered,
      settled: new Set(acknowledged.map(({ orderId }) => orderId)).size,
      kills:
        journal.incidents.filter(({ incident }) => incident.includes("killed")).length +
        interference.sagaKills.killed.size,
      lostAnswers: stage.lostAnswers() + interference.queue.lostAnswers,
      seconds: Math.floor((Date.now() - startedAtMs) / 1000),
    });
  };
  const ticking = setInterval(printProgress, PROGRESS_EVERY_MS);
  return {
    enter(next: Phase) {
      phase = next;
      printProgress();
    },
    end() {
      clearInterval(ticking);
      printProgress();
    },
  };
}

/** A function whose caller has stopped waiting may still be writing: its effects must be counted, too. */
async function untilQuiet(stage: Stage, signal: AbortSignal): Promise<void> {
  let before: number;
  do {
    before = stage.databaseRequests();
    await sleep(QUIET_MS, undefined, { signal });
  } while (stage.databaseRequests() !== before);
}
