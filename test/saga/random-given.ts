// A random saga with steps at most once, under throttling, deaths and a rollout, until the faults end.

import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Saga, SagaStep } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import { fakeClock, fakeRandom, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted, throttled } from "../kit/faults/faulty-store.ts";

/** What another system has done for one step. */
interface Effect {
  done: number;
  undone: number;
}

export interface RandomEnd {
  readonly state: string;
  readonly listed: number;
  readonly effects: Readonly<Record<string, Effect>>;
  /** The step that the deployment before the rollout didn't have. */
  readonly added: string | undefined;
  /** Everything that happened, for a failure's message. */
  readonly log: readonly string[];
}

const FAULTY_ATTEMPTS = 5;
const QUIET_ATTEMPTS = 6;

/** The same seed plays the same saga. */
export async function playRandomSaga(seed: string): Promise<RandomEnd> {
  const random = fakeRandom(seed);
  const chance = (probability: number) => random.fraction() < probability;
  const upTo = (count: number) => Math.floor(random.fraction() * count);
  const clock = fakeClock(1_700_000_000_000);
  const memory = new MemoryStore();
  const log: string[] = [];
  const effects: Record<string, Effect> = {};
  let isFaulty = true;

  let throttles = 0;
  const store = intercepted(memory, async (method, request) => {
    if (isFaulty && throttles === 0 && chance(0.08)) throttles = chance(0.5) ? 1 : 60;
    if (!isFaulty || throttles === 0) return request();
    throttles--;
    if (chance(0.3)) await request();
    log.push(`${method} is throttled`);
    throw throttled();
  });

  const names = ["a", "b", "c", "d"].slice(0, 2 + upTo(3));
  const pivotAt = chance(0.3) ? upTo(names.length) : -1;
  // A step that never works, so that the saga has to turn back.
  const refused = chance(0.6) ? upTo(pivotAt === -1 ? names.length : pivotAt + 1) : -1;
  const steps = names.map((name, index): SagaStep<unknown, MemoryWrite> => {
    const effect: Effect = { done: 0, undone: 0 };
    effects[name] = effect;
    const isBehindPivot = pivotAt !== -1 && index > pivotAt;
    const act = async (what: string, change: () => void) => {
      if (isFaulty && chance(0.1)) {
        log.push(`${what} never answers`);
        if (chance(0.5)) change();
        await new Promise(() => {});
      }
      if (isFaulty && chance(0.25)) {
        if (chance(0.5)) change();
        log.push(`${what} fails`);
        throw new Error(`${what} failed`);
      }
      change();
      log.push(what);
    };
    return {
      name,
      run: () =>
        act(name, () => {
          if (index === refused) throw new Error(`${name} is refused`);
          effect.done = 1;
        }),
      ...(!isBehindPivot && {
        compensate: () =>
          act(`undo ${name}`, () => {
            effect.undone = effect.done;
          }),
      }),
      ...(!isBehindPivot && chance(0.7) && { atMostOnce: true }),
      ...(chance(0.4) && { retryLater: () => chance(0.5) }),
      ...(index === pivotAt && { pivot: true }),
    };
  });

  const place = saga("place", steps);
  // Sagas keep their first step: before it is done nothing of it is on record.
  const addedAt = 1 + upTo(names.length - 1);
  // In front of a pivot that is done, a step with an unknown end can neither run again nor be undone: a person has to decide.
  const isKept = addedAt <= pivotAt || [refused, names.length - 1].includes(addedAt);
  const added = isKept ? undefined : names[addedAt];
  const old = saga(
    "place",
    steps.filter(({ name }) => name !== added),
  );
  const isDeclared = chance(0.5);
  const attempt = async (its: Saga<unknown, MemoryWrite>, which: string) => {
    const options = {
      ...{ operation: "create-order", store, clock, random, leaseSeconds: 30, renewLease: false },
      ...(isDeclared && { steps: its.steps }),
    };
    log.push(`-- a call of the ${which} deployment`);
    const call = runOnce(options, "key-1", {}, (execution) => its.run(execution, {})).then(
      () => log.push("-> done"),
      (error: Error & { code?: string }) => log.push(`-> ${error.name} ${error.code ?? ""}`),
    );
    // Longer than a lease, and than the pause before a held key is tried again.
    await Promise.all([clock.advance(96_000), Promise.race([call, clock.sleep(95_000)])]);
  };
  for (let tries = 0; tries < FAULTY_ATTEMPTS; tries++) {
    if (chance(0.3)) await attempt(old, "old");
    else await attempt(place, "new");
    throttles = 0;
  }
  isFaulty = false;
  for (let tries = 0; tries < QUIET_ATTEMPTS; tries++) await attempt(place, "new");

  let listed = 0;
  for await (const _ of memory.unknownOutcomes({ before: clock.now() })) listed++;
  const { recordKey } = identify("create-order", "", "key-1");
  const { state = "absent" } = memory.records.get(recordKey) ?? {};
  return { state, listed, effects, added, log };
}
