// The sample, started for the run on local engines; its effects are counted in its tables and queues.

import { createInterference, type Interference } from "../demo/interference.ts";
import { paymentsQueue } from "../demo/payments-queue.ts";
import { FAULT_SHARES } from "../demo/plan.ts";
import { SAMPLE_FOLDER } from "../demo/run-demo.ts";
import { settle } from "../demo/settle.ts";
import { startStage } from "../demo/stage.ts";
import type { Service } from "./service.ts";
import type { OwnTarget } from "./target.ts";

export interface OwnServiceOptions {
  readonly target: OwnTarget;
  readonly seed: number;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly signal: AbortSignal;
}

/** Leaves nothing running if it can't start. @throws the signal's reason, once it aborts */
export async function startOwnService(options: OwnServiceOptions): Promise<Service> {
  const { target, seed, dynamodbEndpoint, signal } = options;
  const interference = target.faults
    ? createInterference({ seed, faultShares: FAULT_SHARES })
    : noInterference(seed);
  const folder = target.app ?? SAMPLE_FOLDER;
  const stage = await startStage({ folder, dynamodbEndpoint, interference, signal });
  const { tables, queues } = stage;
  return {
    url: stage.url,
    description: `the sample on ${stage.engine}`,
    settle: () => settle({ stage, clock: interference.clock, signal }),
    async effects() {
      const [queued, deadLetters] = [await queues.payments(), await queues.deadLetters()];
      return {
        isAlone: true,
        orders: await tables.orders(),
        payments: await tables.payments(),
        ledger: await tables.ledger(),
        left: {
          unsent: await tables.unsent(),
          queued: queued.visible + queued.inFlight,
          deadLetters: deadLetters.visible + deadLetters.inFlight,
        },
      };
    },
    faults() {
      if (!target.faults) return undefined;
      const { faults, queue } = interference;
      return { lostAnswers: stage.lostAnswers() + queue.lostAnswers, throttles: faults.throttles };
    },
    stop: stage.stop,
  };
}

function noInterference(seed: number): Interference {
  const { faults, ...others } = createInterference({ seed, faultShares: FAULT_SHARES });
  return { ...others, faults: { ...faults, decide: () => "pass" }, queue: paymentsQueue(seed, 0) };
}
