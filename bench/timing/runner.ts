// Calls one contestant, for first runs and replays, with several callers at once, and takes the time.
import { type Invoke, postOrder } from "../contestants/lambda-call.ts";
import { lambdaContext } from "../contestants/world.ts";
import { median } from "./median.ts";
import { CALLERS, type Callers, type Pace, type Runner } from "./speed.ts";

const WARM_UP_CALLS = 100;
const CALLS: Readonly<Record<Callers, number>> = { 1: 30, 16: 64, 64: 128 };

export function runnerOf(invoke: Invoke): Runner {
  return {
    async warmUp() {
      await callAll(invoke, freshKeys(WARM_UP_CALLS), 1);
    },
    async round() {
      const firstRun = {} as Record<Callers, Pace>;
      const replay = {} as Record<Callers, Pace>;
      for (const callers of CALLERS) {
        const keys = freshKeys(CALLS[callers]);
        firstRun[callers] = await callAll(invoke, keys, callers);
        replay[callers] = await callAll(invoke, keys, callers);
      }
      return { firstRun, replay };
    },
  };
}

async function callAll(invoke: Invoke, keys: readonly string[], callers: number): Promise<Pace> {
  const left = keys.values();
  const durations: number[] = [];
  const work = async () => {
    for (const key of left) {
      const startedAt = performance.now();
      await invoke(postOrder(key), lambdaContext());
      durations.push(performance.now() - startedAt);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, work));
  return { latency: median(durations), throughput: keys.length / (performance.now() - startedAt) };
}

function freshKeys(count: number): string[] {
  return Array.from({ length: count }, () => crypto.randomUUID());
}
