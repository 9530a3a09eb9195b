/** A person's data is erased, and the fact stays: the same on every store. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { RECORD_VERSION } from "../../../lib/contract.ts";
import { OutcomeUnknownError, ResultNotKeptError } from "../../../lib/core/errors.ts";
import { identify } from "../../../lib/core/identity.ts";
import type { IdempotencyRecord } from "../../../lib/core/record.ts";
import { resolveOutcome } from "../../../lib/core/resolve-outcome.ts";
import { type RunOnceOptions, runOnce } from "../../../lib/core/run-once.ts";
import type { Store } from "../../../lib/core/store.ts";
import { decodeEvidence } from "../../../lib/core/verify.ts";
import { type EraseOptions, eraseResult } from "../../../lib/dynamodb/erase-result.ts";
import { type FakeClock, fakeClock } from "../../../lib/testing/fake-clock.ts";

export interface ErasedWorld {
  readonly store: Store<never>;
  /** What erases, such as a store around `store`, or one behind it. @default - `store` */
  readonly eraser?: Store<never>;
  /** Whether the store keeps steps. */
  readonly hasSteps: boolean;
  /** All that the database holds of a record, as text: compressed results unpacked. */
  held(recordKey: string): Promise<string>;
  /** Behind the store. */
  setVersion(recordKey: string, version: number): Promise<void>;
}

interface Erasing {
  readonly name: string;
  /** @default - for every store */
  readonly needsSteps?: boolean;
  check(world: ErasedWorld): Promise<void>;
}

const CANARY = "canary-4711";
const SCOPE = "acme";
const ERASURE = { by: "privacy-desk", why: "request 12" };

/** Text that does not compress, with the secret in it. */
const secretOf = (kilobytes: number) =>
  [CANARY, ...Array.from({ length: Math.ceil((kilobytes * 1024) / 37) }, () => randomUUID())].join(" ");

const never = () => expect.unreachable("it ran again");

function callsOn({ store, eraser = store, held }: ErasedWorld) {
  const clock: FakeClock = fakeClock(Math.ceil(Date.now() / 1000) * 1000);
  const key = randomUUID();
  const { recordKey } = identify("pay", SCOPE, key);
  const options: RunOnceOptions<never> = { operation: "pay", scope: SCOPE, store, clock, leaseSeconds: 30 };
  const found = () => store.find(recordKey, { consistent: true });
  return {
    key,
    recordKey,
    clock,
    options,
    found,
    run: (work: Parameters<typeof runOnce<unknown, never>>[3], change: Partial<RunOnceOptions<never>> = {}) =>
      runOnce<unknown, never>({ ...options, ...change }, key, {}, work),
    erase: (change: Partial<EraseOptions<never>> = {}, given = key) =>
      eraseResult({ operation: "pay", scope: SCOPE, store: eraser, clock, ...change }, given, ERASURE),
    async expectErased() {
      expect(await held(recordKey)).not.toContain(CANARY);
      await expect(runOnce<unknown, never>(options, key, {}, never)).rejects.toThrow(ResultNotKeptError);
    },
  };
}

type Calls = ReturnType<typeof callsOn>;

/** What stands under the key is as before: nobody has erased. */
async function expectUntouched({ found, erase }: Calls, state: IdempotencyRecord["state"]) {
  const before = await found();
  expect(await erase()).toEqual({ erased: false, state });
  const { leaseEndsAt: _, expiresAt: __, ...still } = { ...before };
  expect(await found()).toMatchObject(still);
}

/** Remembers each write to a store, to send all of them once more. */
function recorded(store: Store<never>) {
  const writes: (() => Promise<unknown>)[] = [];
  const noted = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        const call = () => Reflect.apply(value, target, given);
        if (/^(claim|settle|insert|renew|writeStep)$/.test(String(name))) writes.push(call);
        return call();
      };
    },
  });
  return { store: noted, again: () => Promise.allSettled(writes.map((write) => write())) };
}

export const ERASURES: readonly Erasing[] = [
  ...[0.1, 20, 200].map(
    (kilobytes): Erasing => ({
      name: `H39: a result of ${kilobytes} KB is erased, a replay runs nothing, and who erased it why is on record`,
      async check(world) {
        const calls = callsOn(world);
        await calls.run(() => secretOf(kilobytes));
        const before = await calls.found();
        await calls.clock.advance(5000);

        expect(await calls.erase()).toEqual({ erased: true });

        await calls.expectErased();
        const record = await calls.found();
        const { fingerprint, createdAt, completedAt, expiresAt } = before!;
        const kept = { fingerprint, createdAt, completedAt, expiresAt };
        expect(record).toMatchObject({ state: "completed", attempt: 2, ...kept });
        expect(record?.token).not.toBe(before?.token);
        expect(decodeEvidence(record?.evidence)).toMatchObject({
          by: "privacy-desk",
          answered: "request 12",
          asked: "to erase the result",
          verdict: "happened",
        });
      },
    }),
  ),
  {
    name: "H39: the results of steps are erased too, small and large ones, including those of steps that ran again",
    needsSteps: true,
    async check(world) {
      const calls = callsOn(world);
      const isMended = { yet: false };
      const work: Parameters<Calls["run"]>[0] = async ({ step }) => {
        await step("small", () => secretOf(0.1));
        await step("large", () => secretOf(20));
        if (!isMended.yet) throw new Error("on the way");
        await step("larger", () => secretOf(60));
        return secretOf(1);
      };
      await expect(calls.run(work)).rejects.toThrow("on the way");
      isMended.yet = true;
      await calls.run(work);
      expect(await world.held(calls.recordKey)).toContain(CANARY);

      expect(await calls.erase()).toEqual({ erased: true });

      await calls.expectErased();
    },
  },
  {
    name: "H39: the error of a key that has failed is erased",
    async check(world) {
      const calls = callsOn(world);
      const failing = { isFinalError: () => true };
      const error = new Error(secretOf(0.1));
      await expect(calls.run(() => Promise.reject(error), failing)).rejects.toThrow(CANARY);

      expect(await calls.erase()).toEqual({ erased: true });

      await calls.expectErased();
      expect(await calls.found()).toMatchObject({ state: "failed" });
    },
  },
  {
    name: "H39: evidence that names a person goes with the result",
    async check(world) {
      const calls = callsOn(world);
      if (!world.store.unknownOutcomes) return;
      const holding = { whenAbandoned: "hold" as const };
      await calls.run(() => Promise.reject(new OutcomeUnknownError()), holding).catch(() => {});
      const { store } = world;
      const resolving = { operation: "pay", scope: SCOPE, store, clock: calls.clock };
      const verdict = { outcome: "happened", result: CANARY, by: CANARY, why: CANARY } as const;
      expect(await resolveOutcome(resolving, calls.key, verdict)).toEqual({ resolved: true });
      expect((await calls.found())?.evidence).toContain(CANARY);

      expect(await calls.erase()).toEqual({ erased: true });

      await calls.expectErased();
    },
  },
  {
    name: "H39: an operation that answers nothing goes on to do so once it is erased",
    async check(world) {
      const calls = callsOn(world);
      await calls.run(() => undefined);

      expect(await calls.erase()).toEqual({ erased: true });

      expect(await calls.run(never)).toBeUndefined();
    },
  },
  {
    name: "H39: erasing twice changes nothing, and of two erasures at the same time both succeed",
    async check(world) {
      const calls = callsOn(world);
      await calls.run(() => secretOf(20));
      expect(await Promise.all([calls.erase(), calls.erase()])).toEqual([{ erased: true }, { erased: true }]);
      const once = await calls.found();

      expect(await calls.erase()).toEqual({ erased: true });

      expect(await calls.found()).toEqual(once);
      await calls.expectErased();
    },
  },
  {
    name: "H39, H43: no late copy of any write brings back what was erased",
    async check(world) {
      const { store, again } = recorded(world.store);
      const calls = callsOn({ ...world, eraser: world.eraser ?? world.store, store });
      await calls.run(async ({ step }) => {
        if (world.hasSteps) await step("large", () => secretOf(20));
        return secretOf(20);
      });
      await calls.erase();
      const erased = await calls.found();

      await again();

      expect(await calls.found()).toEqual(erased);
      await calls.expectErased();
    },
  },
  {
    name: "H39, H43: an attempt that is alive is not erased, nor one that was abandoned: each records its result",
    async check(world) {
      const calls = callsOn(world);
      const answer = await calls.run(async () => {
        await expectUntouched(calls, "in-progress");
        return CANARY;
      });
      expect(answer).toBe(CANARY);
      expect(await calls.run(never)).toBe(CANARY);

      const abandoned = callsOn(world);
      const now = abandoned.clock.now();
      await world.store.claim({
        ...{ recordKey: abandoned.recordKey, token: "token-1", fingerprint: "f", attempt: 1 },
        ...{ createdAt: now, leaseEndsAt: now - 1, expiresAt: now / 1000 + 60, keepsSteps: false },
      });
      await expectUntouched(abandoned, "in-progress");
    },
  },
  {
    name: "H39: a held key stays as it is, because it isn't known yet whether the effect happened",
    async check(world) {
      const calls = callsOn(world);
      if (!world.store.unknownOutcomes) return;
      const holding = { whenAbandoned: "hold" as const };
      await calls.run(() => Promise.reject(new OutcomeUnknownError()), holding).catch(() => {});

      await expectUntouched(calls, "held");
    },
  },
  {
    name: "H39, H53: a saga under way stays as it is, with the results that the next attempt goes on from",
    needsSteps: true,
    async check(world) {
      const calls = callsOn(world);
      let reserved = 0;
      const work: Parameters<Calls["run"]>[0] = async ({ step, attempt }) => {
        const seat = await step("reserve", () => `seat ${++reserved}`, { tracked: true });
        if (attempt === 1) throw new Error("on the way");
        return seat;
      };
      await expect(calls.run(work)).rejects.toThrow("on the way");

      await expectUntouched(calls, "released");

      expect(await calls.run(work)).toBe("seat 1");
    },
  },
  {
    name: "H39: nothing is erased for another scope or an unused key",
    async check(world) {
      const calls = callsOn(world);
      await calls.run(() => CANARY);

      const absent = { erased: false, state: "absent" };
      expect(await calls.erase({ scope: "another" })).toEqual(absent);
      const unscoped = { operation: "pay", store: world.eraser ?? world.store };
      expect(await eraseResult(unscoped, calls.key, ERASURE)).toEqual(absent);
      expect(await calls.erase({ operation: "refund" })).toEqual(absent);
      expect(await calls.erase({}, randomUUID())).toEqual(absent);

      expect(await calls.run(never)).toBe(CANARY);
    },
  },
  {
    name: "H39, H46: a record of a version that this code doesn't know is reported as such, and stays",
    async check(world) {
      const calls = callsOn(world);
      await calls.run(() => CANARY);
      await world.setVersion(calls.recordKey, RECORD_VERSION + 1);

      await expect(calls.erase()).rejects.toMatchObject({ code: "RECORD_CORRUPT" });

      expect(await world.held(calls.recordKey)).toContain(CANARY);
    },
  },
  {
    name: "H39: a record past its retention that still exists is erased",
    async check(world) {
      const calls = callsOn(world);
      await calls.run(() => secretOf(20), { retentionSeconds: 60 });
      await calls.clock.advance(61_000);

      expect(await calls.erase()).toEqual({ erased: true });

      expect(await world.held(calls.recordKey)).not.toContain(CANARY);
    },
  },
];

/** Those that a store can be asked for. */
export const erasuresOf = (hasSteps: boolean): readonly Erasing[] =>
  ERASURES.filter(({ needsSteps }) => hasSteps || !needsSteps);
