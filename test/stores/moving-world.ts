/** A move from one store in memory to another: calls by instances of each stage, with faults at their requests. */

import type { Execution } from "../../lib/core/execution.ts";
import type { RunOnceOptions } from "../../lib/core/run-once.ts";
import { performOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { type UnmigratedRecord, unmigratedRecords } from "../../lib/stores/unmigrated-records.ts";
import { fakeClock, fakeRandom, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted, unreachable } from "../kit/faults/faulty-store.ts";

/** `from` alone, both with commits in `from`, both with commits in `to`, `to` alone. */
export type Stage = 1 | 2 | 3 | 4;

/** What becomes of one request. */
export type Fate = "answered" | "crash-before" | "crash-after" | "fails" | "answer-lost";

export type Options = Partial<RunOnceOptions<MemoryWrite>>;
type Work = (execution: Execution<MemoryWrite>) => Promise<unknown>;

const TAKES_OVER_MS = 40_000;

const countUp = (name: string): MemoryWrite => ({
  table: "effects",
  key: name,
  item: (former) => ({ count: Number(former?.count ?? 0) + 1 }),
});

/** One business write, committed with the result. */
export const commits: Work = ({ commit }) => commit({ done: true }, { writes: [countUp("order")] });

/** Two steps with a business write each, and a result. */
export const inSteps: Work = async ({ step }) => {
  const first = await step("reserve", ({ commit }) =>
    commit("r".repeat(2000), { writes: [countUp("reserve")] }),
  );
  const second = await step("charge", ({ commit }) => commit(first.length, { writes: [countUp("charge")] }));
  return { second };
};

export function movingWorld(work: Work = commits, options: Options = {}) {
  const clock = fakeClock();
  const random = fakeRandom("move");
  const from = new MemoryStore();
  const to = new MemoryStore();
  let runs = 0;

  /** @param fates of the requests to both stores, in their order; all others are answered */
  function storesOf(fates: readonly Fate[]) {
    let requests = 0;
    const faulty = (store: MemoryStore) =>
      intercepted(store, async (_, request) => {
        const fate = fates[requests++] ?? "answered";
        if (fate === "crash-before") return new Promise(() => {});
        if (fate === "fails") throw unreachable();
        const answer = await request();
        if (fate === "crash-after") return new Promise(() => {});
        if (fate === "answer-lost") throw unreachable();
        return answer;
      });
    return { from: faulty(from), to: faulty(to), count: () => requests };
  }

  function storeOf(stage: Stage, stores: { from: Store<MemoryWrite>; to: Store<MemoryWrite> }) {
    if (stage === 1) return stores.from;
    if (stage === 4) return stores.to;
    const given = { clock };
    return stage === 2
      ? migrating(stores.from, stores.to, given)
      : migrating(stores.from, stores.to, { ...given, commitsIn: "to" });
  }

  /** How often each effect was applied, in whichever database. */
  const effects = () => {
    const counts: Record<string, number> = {};
    for (const store of [from, to]) {
      for (const [name, { count }] of store.table("effects"))
        counts[name] = (counts[name] ?? 0) + Number(count);
    }
    return counts;
  };

  return {
    clock,
    from,
    to,
    effects,
    runs: () => runs,

    /** A call that is answered, or dies; and then as much time as a take-over needs. Resolves to the answer, if any. */
    async call(stage: Stage, fates: readonly Fate[] = [], more: Options = {}) {
      const stores = storesOf(fates);
      const given: RunOnceOptions<MemoryWrite> = {
        operation: "create-order",
        store: storeOf(stage, stores),
        leaseSeconds: 30,
        renewLease: false,
        whenInProgress: "reject",
        clock,
        random,
        ...options,
        ...more,
      };
      let answer: { result?: unknown; error?: unknown } | undefined;
      const counted: Work = (execution) => {
        runs++;
        return work(execution);
      };
      performOnce(given, "key-1", "input", counted).then(
        ({ failure, result }) => {
          answer = failure ? { error: failure.error } : { result };
        },
        (error: unknown) => {
          answer = { error };
        },
      );
      await clock.advance(TAKES_OVER_MS);
      return { answer, requests: stores.count() };
    },

    async unmigratedRecords(migrate = false): Promise<UnmigratedRecord[]> {
      const recordKeys = [...from.records.keys()];
      const left: UnmigratedRecord[] = [];
      for await (const each of unmigratedRecords({ from, to, recordKeys, migrate, clock })) left.push(each);
      return left;
    },
  };
}

export type MovingWorld = ReturnType<typeof movingWorld>;
