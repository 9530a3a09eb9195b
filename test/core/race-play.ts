/** Plays concurrent calls of one key under a fast-check scheduler, and reports what an onlooker saw. */
import fc from "fast-check";
import type { Clock } from "../../lib/core/clock.ts";
import { perform } from "../../lib/core/engine.ts";
import { PermanentError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { identify } from "../../lib/core/identity.ts";
import { resolveOptions } from "../../lib/core/options.ts";
import type { Claim } from "../../lib/core/store.ts";
import { fakeRandom, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted, throttled, unreachable } from "./world.ts";

/** What becomes of one request to the store. */
const FATES = [
  "answered",
  "failed",
  "answer-lost",
  "answer-lost-and-sent-again",
  "crash-before",
  "crash-after",
] as const;

export interface CallPlan {
  readonly mode: "claimed" | "optimistic" | "unprotected";
  readonly work: "effect" | "commit";
  readonly end: "value" | "error" | "final-error";
  readonly waits: boolean;
  /** One per request, in order; later requests are answered. */
  readonly fates: readonly (typeof FATES)[number][];
}

export const callPlan = (
  modes: readonly CallPlan["mode"][],
  works: readonly CallPlan["work"][],
): fc.Arbitrary<CallPlan> =>
  fc.record({
    mode: fc.constantFrom(...modes),
    work: fc.constantFrom(...works),
    end: fc.constantFrom("value", "value", "value", "error", "final-error"),
    waits: fc.boolean(),
    fates: fc.array(fc.constantFrom("answered", "answered", "answered", ...FATES), { maxLength: 4 }),
  });

export interface Play {
  /** The recorded answers that calls came back with: values and final errors. */
  readonly answers: readonly string[];
  /** What the record says in the end, if it is finished. */
  readonly stored: string | undefined;
  /** The committed effects. */
  readonly orders: number;
  /** Pairs of attempts that were live and at work at once. */
  readonly overlaps: readonly string[];
  /** Live attempts that started although the record was finished. */
  readonly runsAfterRecord: number;
  /** The fencing numbers in the order in which the attempts started. */
  readonly attempts: readonly number[];
  readonly keyExpired: number;
}

export async function play(
  scheduler: fc.Scheduler,
  plans: readonly CallPlan[],
  memory: MemoryStore = new MemoryStore(),
): Promise<Play> {
  let time = 1_700_000_000_000;
  // Sleepers wake whenever the scheduler likes: time then is at least what they waited for.
  const clock: Clock = {
    now: () => time,
    sleep: async (ms, signal) => {
      const until = time + ms;
      await Promise.race([
        scheduler.schedule(Promise.resolve(), `sleep ${ms}`),
        new Promise((resolve) => signal?.addEventListener("abort", resolve)),
      ]);
      if (!signal?.aborted) time = Math.max(time, until);
    },
  };
  const identity = identify("create-order", "tenant-1", "key-1");
  const random = fakeRandom("race");
  const answers: string[] = [];
  const overlaps: string[] = [];
  const attempts: number[] = [];
  /** When the lease of each attempt ends. */
  const leases = new Map<number, number>();
  const working = new Set<number>();
  let runsAfterRecord = 0;
  let keyExpired = 0;

  const isLive = (attempt: number) => (leases.get(attempt) ?? 0) >= time;
  const noteClaim = ({ token, leaseEndsAt }: Claim) => {
    const record = memory.records.get(identity.recordKey);
    if (record?.token === token) leases.set(record.attempt, leaseEndsAt);
  };

  const finished = () => {
    const record = memory.records.get(identity.recordKey);
    return record?.state === "completed" || record?.state === "failed" ? record : undefined;
  };

  function startCall(plan: CallPlan, index: number): void {
    const name = `call ${index}`;
    const pending = [...plan.fates];
    const store = intercepted(memory, async (method, request, [claim]) => {
      const fate = pending.shift() ?? "answered";
      await scheduler.schedule(Promise.resolve(), `${name}: ${method} arrives`);
      if (fate === "crash-before") return new Promise(() => {});
      if (fate === "failed") throw throttled();
      if (fate === "answer-lost-and-sent-again") {
        await request().catch(() => {});
        await scheduler.schedule(Promise.resolve(), `${name}: ${method} arrives again`);
      }
      const answer = await request();
      if (method === "claim") noteClaim(claim as Claim);
      if (fate === "crash-after") return new Promise(() => {});
      await scheduler.schedule(Promise.resolve(), `${name}: ${method} answers`);
      if (fate === "answer-lost") throw unreachable();
      return answer;
    });

    const work = async (execution: Execution<MemoryWrite>) => {
      const { attempt } = execution;
      attempts.push(attempt);
      // An attempt whose lease is over may still start, or go on: it is fenced, not stopped.
      if (isLive(attempt)) {
        if (finished()) runsAfterRecord++;
        for (const other of working) if (isLive(other)) overlaps.push(`${other} and ${attempt}`);
      }
      working.add(attempt);
      await scheduler.schedule(Promise.resolve(), `${name}: works`);
      working.delete(attempt);
      if (plan.end === "error") throw new Error("try again");
      if (plan.end === "final-error") throw new PermanentError(`${name} is final`);
      if (plan.work === "effect") return { by: name };
      return execution.commit({ by: name }, { writes: [orderWrite] });
    };

    let isRecorded = true;
    const options = resolveOptions<MemoryWrite>({
      operation: "create-order",
      store,
      clock,
      random,
      leaseSeconds: 30,
      mode: plan.mode === "optimistic" ? "optimistic" : "claimed",
      whenStoreFails: plan.mode === "unprotected" ? "run" : "reject",
      whenInProgress: plan.waits ? { waitSeconds: 20 } : "reject",
      observe: ({ decision }) => {
        if (decision === "completion-lost") isRecorded = false;
        if (decision === "key-expired") keyExpired++;
      },
    });
    perform(options, { identity, fingerprints: ["1:same"] }, work).then(
      ({ result }) => isRecorded && answers.push(`value ${JSON.stringify(result)}`),
      (error) => isRecorded && error instanceof PermanentError && answers.push(`error ${error.message}`),
    );
  }

  plans.forEach((plan, index) => {
    scheduler.schedule(Promise.resolve(), `call ${index} begins`).then(() => startCall(plan, index));
  });
  // Calls after a lease has certainly ended.
  scheduler.schedule(Promise.resolve(), "time passes").then(() => {
    time += 36_000;
  });
  await scheduler.waitIdle();

  const record = finished();
  const text = record?.result?.in === "record" ? record.result.text : undefined;
  return {
    answers,
    stored:
      record === undefined || text === undefined
        ? undefined
        : record.state === "completed"
          ? `value ${text}`
          : `error ${JSON.parse(text).message}`,
    orders: Number(memory.table("orders").get("order-1")?.count ?? 0),
    overlaps,
    runsAfterRecord,
    attempts,
    keyExpired,
  };
}

const orderWrite: MemoryWrite = {
  table: "orders",
  key: "order-1",
  item: (former) => ({ count: Number(former?.count ?? 0) + 1 }),
};
