// Callers on a cluster of three masters while it changes, and what came of their calls.
import { setTimeout as sleep } from "node:timers/promises";
import { type DecisionEvent, runOnce } from "onceonly";
import type { ValkeyStore } from "../../lib/valkey/valkey-store.ts";

export interface LoadReport {
  readonly keys: number;
  /** Keys whose handler ran more than once. */
  readonly doubled: number;
  /** Callers that had no answer a while after the end. */
  readonly stuck: number;
  /** Calls that the store refused for good. */
  readonly refused: readonly string[];
  readonly retried: number;
  readonly lost: number;
}

const LEASE_SECONDS = 30;
/** For callers to end: longer than a lease with the skew of clocks. */
const END_WITHIN_MS = 60_000;

/** Callers with a new key each time, who call again until they have an answer, and once more for a replay. */
export function startLoad(stores: readonly ValkeyStore[], callers: number) {
  const runs = new Map<string, number>();
  const refused: string[] = [];
  let [isOver, retried, lost, running] = [false, 0, 0, callers];
  const observe = ({ decision }: DecisionEvent) => {
    if (decision === "completion-lost") lost++;
  };

  const untilAnswered = async (store: ValkeyStore, key: string): Promise<string> => {
    for (;;) {
      try {
        return await runOnce(
          {
            operation: "load",
            store,
            leaseSeconds: LEASE_SECONDS,
            observe,
            whenInProgress: { waitSeconds: 5 },
          },
          key,
          {},
          async () => {
            runs.set(key, (runs.get(key) ?? 0) + 1);
            await sleep(5);
            return key;
          },
        );
      } catch (error) {
        const { retryable, message } = error as { retryable?: boolean; message: string };
        if (!retryable) refused.push(message);
        retried++;
        await sleep(50);
      }
    }
  };
  const caller = async (index: number) => {
    for (let call = 0; !isOver; call++) {
      const key = `${index}-${call}`;
      const store = stores[index % stores.length] as ValkeyStore;
      if ((await untilAnswered(store, key)) !== key) throw new Error(`${key} got another answer`);
      await untilAnswered(store, key);
    }
    running--;
  };
  const all = Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  all.catch(() => {});
  return {
    /** How many keys were done so far. */
    done: () => runs.size,
    async end(): Promise<LoadReport> {
      isOver = true;
      const giveUp = new AbortController();
      await Promise.race([all, sleep(END_WITHIN_MS, undefined, { signal: giveUp.signal }).catch(() => {})]);
      giveUp.abort();
      const doubled = [...runs.values()].filter((count) => count > 1).length;
      return { keys: runs.size, doubled, stuck: running, refused: [...new Set(refused)], retried, lost };
    },
  };
}
