/** Plays concurrent calls of one key under a fast-check scheduler, and reports what an onlooker saw. */
import type fc from "fast-check";
import type { Clock } from "../../../lib/core/clock.ts";
import { perform } from "../../../lib/core/engine.ts";
import { PermanentError } from "../../../lib/core/errors.ts";
import type { Execution } from "../../../lib/core/execution.ts";
import { identify } from "../../../lib/core/identity.ts";
import { resultOf } from "../../../lib/core/outcome.ts";
import type { IdempotencyRecord } from "../../../lib/core/record.ts";
import { resolveOptions } from "../../../lib/core/resolved-options.ts";
import type { Claim, Settlement, Store } from "../../../lib/core/store.ts";
import { fakeRandom } from "../../../lib/testing/index.ts";
import { type Intercept, intercepted, throttled, unreachable } from "../../kit/faults/faulty-store.ts";
import type { CallPlan } from "./race-plan.ts";
import type { RacedStore } from "./raced-store.ts";

export interface Play {
  /** The recorded answers that calls came back with: values and final errors. */
  readonly answers: readonly string[];
  /** What the record says in the end, if it is finished. */
  readonly stored: string | undefined;
  /** The committed effects: when they were applied, and from when on their retention counts (epoch ms). */
  readonly effects: readonly { readonly at: number; readonly from: number }[];
  /** Pairs of attempts that were live and at work at once. */
  readonly overlaps: readonly string[];
  /** Live attempts that started although the record was finished. */
  readonly runsAfterRecord: number;
  /** The fencing numbers in the order in which the attempts started. */
  readonly attempts: readonly number[];
  readonly keyExpired: number;
}

interface Stage<Write> {
  readonly retentionSeconds?: number;
  /** Records are on their way from `raced` to `to`: each call adapters both in its own way. */
  readonly moving?: {
    readonly to: RacedStore<Write>;
    /** Whether a call claims in `to` last. */
    readonly endsInTo: (index: number) => boolean;
    readonly adapter: (index: number, from: Store<Write>, to: Store<Write>, clock: Clock) => Store<Write>;
  };
}

/** What somebody sees who looks into a store. */
interface Sight {
  readonly orders: number;
  readonly record: IdempotencyRecord | undefined;
}

export async function play<Write>(
  scheduler: fc.Scheduler,
  plans: readonly CallPlan[],
  raced: RacedStore<Write>,
  { retentionSeconds = 86_400, moving }: Stage<Write> = {},
): Promise<Play> {
  const stores = [raced, ...(moving ? [moving.to] : [])];
  const sights = new Map<RacedStore<Write>, Sight>(
    stores.map((each) => [each, { orders: 0, record: undefined }]),
  );
  const countOf = () => [...sights.values()].reduce((sum, { orders }) => sum + orders, 0);
  let time = 1_700_000_000_000;
  const hops = async (count: number, label: string) => {
    for (let hop = 0; hop < count; hop++) await scheduler.schedule(Promise.resolve(), label);
  };
  // Sleepers wake whenever the scheduler likes, but most long sleeps outlast what else happens. The time is then at
  // least what they waited for.
  const clock: Clock = {
    now: () => time,
    sleep: async (ms, signal) => {
      const until = time + ms;
      await Promise.race([
        hops(ms > 5000 ? 6 : 1, `sleep ${ms}`),
        new Promise((resolve) => signal?.addEventListener("abort", resolve)),
      ]);
      if (!signal?.aborted) time = Math.max(time, until);
    },
  };
  const identity = identify("create-order", "tenant-1", raced.key);
  const random = fakeRandom("race");
  const answers: string[] = [];
  const overlaps: string[] = [];
  const attempts: number[] = [];
  const effects: { at: number; from: number }[] = [];
  /** When the lease of each attempt ends. */
  const leases = new Map<number, number>();
  const working = new Set<number>();
  let runsAfterRecord = 0;
  let keyExpired = 0;

  const isLive = (attempt: number) => (leases.get(attempt) ?? 0) >= time;
  const noteClaim = (last: RacedStore<Write>, { token, leaseEndsAt }: Claim) => {
    const record = sights.get(last)?.record;
    if (record?.token === token) leases.set(record.attempt, leaseEndsAt);
  };

  /** Nothing else happens meanwhile: what is there afterwards was not there before this request. */
  const apply = async (request: () => Promise<unknown>, parameter: unknown) => {
    const before = countOf();
    const answer = await request().then(
      (respond) => () => respond,
      (error: unknown) => () => {
        throw error;
      },
    );
    for (const each of stores) {
      const record = await each.store.find(identity.recordKey, { consistent: true });
      sights.set(each, { orders: await each.orders(), record });
    }
    if (countOf() > before) effects.push({ at: time, from: (parameter as Settlement).now });
    return answer;
  };

  const arrival = async (label: string, arrive: () => Promise<() => unknown>) => {
    let answer: () => unknown = () => undefined;
    await scheduler.schedule(Promise.resolve(), label, undefined, async (goOn) => {
      answer = await arrive();
      await goOn();
    });
    return answer;
  };

  const finished = () =>
    [...sights.values()]
      .map(({ record }) => record)
      .find((record) => record?.state === "completed" || record?.state === "failed");

  function startCall(plan: CallPlan, index: number): void {
    const name = `call ${index}`;
    const pending = [...plan.fates];
    /** A call with the last of its claims may run. */
    const last = moving?.endsInTo(index) ? moving.to : raced;
    const asCalled: Intercept = async (method, request, [parameter]) => {
      const fate = pending.shift() ?? "answered";
      const isApplied = fate !== "crash-before" && fate !== "failed";
      const arrive = async (): Promise<() => unknown> => {
        const answer = isApplied ? await apply(request, parameter) : throttledAnswer;
        if (isApplied && method === "claim") noteClaim(last, parameter as Claim);
        return answer;
      };
      let respond = await arrival(`${name}: ${method} arrives`, arrive);
      if (fate === "crash-before") return new Promise(() => {});
      if (fate === "answer-lost-and-sent-again")
        respond = await arrival(`${name}: ${method} arrives again`, arrive);
      const answer = respond();
      if (fate === "crash-after") return new Promise(() => {});
      await scheduler.schedule(Promise.resolve(), `${name}: ${method} answers`);
      if (fate === "answer-lost") throw unreachable();
      return answer;
    };
    const own = intercepted(raced.store, asCalled);
    const store = moving ? moving.adapter(index, own, intercepted(moving.to.store, asCalled), clock) : own;

    const work = async (execution: Execution<Write>) => {
      // A run without a claim has no number, and no lease.
      const { attempt = -1 - index } = execution;
      attempts.push(attempt);
      // An attempt whose lease is over may still start, or go on: it is fenced, not stopped.
      if (isLive(attempt)) {
        if (finished()) runsAfterRecord++;
        for (const other of working) if (isLive(other)) overlaps.push(`${other} and ${attempt}`);
      }
      working.add(attempt);
      await hops(1 + plan.works, `${name}: works`);
      if (plan.end === "never") return new Promise(() => {});
      working.delete(attempt);
      if (plan.end === "error") throw new Error("try again");
      if (plan.end === "final-error") throw new PermanentError(`${name} is final`);
      if (plan.work === "effect") return { by: name };
      const commit = (result: string) => execution.commit({ by: name, result }, { writes: [raced.order] });
      await (plan.isStubborn ? commit("first").catch(() => commit("second")) : commit("first"));
      return "a commit decides, whatever is returned";
    };

    let isRecorded = true;
    const options = resolveOptions<Write>({
      operation: "create-order",
      store,
      clock,
      random,
      leaseSeconds: 30,
      retentionSeconds,
      mode: plan.mode === "optimistic" ? "optimistic" : "claimed",
      whenStoreFails: plan.mode === "unprotected" ? "run" : "reject",
      whenInProgress: plan.waits ? { waitSeconds: 20 } : "reject",
      observe: ({ decision }) => {
        if (decision === "completion-lost") isRecorded = false;
        if (decision === "key-expired") keyExpired++;
      },
    });
    const call = perform(options, { identity, fingerprints: ["1:same"] }, work);
    call.then(resultOf).then(
      (result) => isRecorded && answers.push(`value ${JSON.stringify(result)}`),
      (error) => isRecorded && error instanceof PermanentError && answers.push(`error ${error.message}`),
    );
  }

  plans.forEach((plan, index) => {
    void hops(1 + plan.idles, `call ${index} begins`).then(() => startCall(plan, index));
  });
  // Each time more than a lease.
  for (const round of [1, 2]) {
    void hops(4 * round, `time passes ${round}`).then(() => {
      time += 36_000;
    });
  }
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
    effects,
    overlaps,
    runsAfterRecord,
    attempts,
    keyExpired,
  };
}

const throttledAnswer = () => {
  throw throttled();
};
