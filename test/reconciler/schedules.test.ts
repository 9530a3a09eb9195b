// Random schedules of callers, deaths, lost answers and a reconciler, over providers of six shapes: nobody pays twice.
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Verification } from "../../lib/core/verify.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import type { ReconcilerEvent } from "../../lib/reconciler/reconciler-options.ts";
import { type FakeClock, fakeClock, fakeRandom, MemoryStore } from "../../lib/testing/index.ts";
import { intercepted, unreachable } from "../kit/faults/faulty-store.ts";
import { inTier } from "../setup/tier.ts";

const START = 1_700_000_000_000;
const MINUTE = 60_000;
const { recordKey } = identify("pay", "", "order-1");

/** Mulberry32: the same numbers for the same seed. */
function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Shape {
  /** For so long a repeated key is no second charge, in ms. */
  readonly keepsKeysMs: number;
  readonly whenAbandoned: "run" | "hold" | "ask";
  /** A charge is seen by look-ups after this time, in ms. */
  readonly lagMs?: number;
  readonly liesOnce?: boolean;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  "keeps keys": { keepsKeysMs: Number.POSITIVE_INFINITY, whenAbandoned: "run" },
  "forgets keys": { keepsKeysMs: 2 * MINUTE, whenAbandoned: "hold" },
  "looks up": { keepsKeysMs: 0, whenAbandoned: "ask" },
  "cannot look up": { keepsKeysMs: 0, whenAbandoned: "hold" },
  slow: { keepsKeysMs: 0, whenAbandoned: "ask", lagMs: 45_000 },
  "lies once": { keepsKeysMs: 0, whenAbandoned: "ask", liesOnce: true },
};

class Provider {
  readonly charges: number[] = [];
  hasLied = false;
  readonly #shape: Shape;
  readonly #clock: FakeClock;

  constructor(shape: Shape, clock: FakeClock) {
    this.#shape = shape;
    this.#clock = clock;
  }

  charge(): string {
    const now = this.#clock.now();
    const last = this.charges.at(-1);
    if (last === undefined || now - last >= this.#shape.keepsKeysMs) this.charges.push(now);
    return "charged";
  }

  isSeen(): boolean {
    const { lagMs = 0, liesOnce } = this.#shape;
    const isThere = this.charges.some((at) => at + lagMs <= this.#clock.now());
    if (!isThere || !liesOnce || this.hasLied) return isThere;
    this.hasLied = true;
    return false;
  }
}

interface Ended {
  readonly charges: number;
  readonly hasLied: boolean;
  readonly state: string;
  readonly isListed: boolean;
  /** How many runs of the reconciler came after the first conclusive answer to it, until the key was settled. */
  readonly runsToSettle: number;
  /** What the last run reported: the metric of the alarm `unsettled-age`. */
  readonly oldestMs: number;
}

/** Plays one schedule: some minutes of callers, half an hour of the reconciler. */
async function play(shape: Shape, seed: number): Promise<Ended> {
  const number = numbersOf(seed);
  const clock = fakeClock(START);
  const random = fakeRandom(`${seed}`);
  const provider = new Provider(shape, clock);
  const memory = new MemoryStore();
  // For less than an interval of the reconciler nobody reaches the store: half of the times from an answer to the reconciler on.
  let downFrom = number() < 0.5 ? START + number() * 12 * MINUTE : undefined;
  const downMs = number() * 50_000;
  const fault = (): "before" | "after" | "late" | undefined => {
    const isDown = downFrom !== undefined && clock.now() >= downFrom && clock.now() < downFrom + downMs;
    const luck = number();
    if (luck < (isDown ? 0.4 : 0.02)) return "before";
    if (luck < (isDown ? 0.6 : 0.03)) return "late";
    return luck > (isDown ? 0.6 : 0.98) ? "after" : undefined;
  };
  let conclusiveAt: number | undefined;
  const isOpen = () => ["held", "in-progress"].includes(`${memory.records.get(recordKey)?.state}`);
  const faulty = intercepted(memory, async (_, request) => {
    const when = fault();
    // A client gives up after a time, and its request can still arrive.
    if (when) await clock.sleep(number() * 1000);
    if (when === "before") throw unreachable();
    const apply = async () => {
      const answer = await request();
      // Settled, whether or not a caller learns of it: what comes after it is another question.
      if (!isOpen()) conclusiveAt = undefined;
      return answer;
    };
    if (when === "late") void clock.sleep(number() * 20_000).then(apply);
    else {
      const answer = await apply();
      if (!when) return answer;
    }
    throw unreachable();
  });
  const store: typeof faulty = Object.assign(Object.create(faulty), {
    async *unknownOutcomes(query: { before: number }) {
      if (fault() === "before") throw unreachable();
      yield* memory.unknownOutcomes(query);
      if (fault() === "before") throw unreachable();
    },
  });
  const verify = ({ askedAt, leaseEndedAt }: { askedAt: number; leaseEndedAt: number }): Verification => {
    const isSeen = provider.isSeen();
    // What is not seen for a minute after the lease did not happen: no request is under way for so long.
    const outcome = isSeen ? "happened" : askedAt - leaseEndedAt < MINUTE ? "unknown" : "did-not-happen";
    return outcome === "happened" ? { outcome, result: "charged" } : { outcome };
  };
  const whenAbandoned = shape.whenAbandoned === "ask" ? verify : shape.whenAbandoned;
  // An attempt that may have run is another question, even if it never learned that it has the claim.
  const callersStore = intercepted(store, async (method, request) => {
    const before = memory.records.get(recordKey)?.attempt;
    return request().finally(() => {
      if (method === "claim" && memory.records.get(recordKey)?.attempt !== before) conclusiveAt = undefined;
    });
  });
  const options = {
    operation: "pay",
    store: callersStore,
    leaseSeconds: 30,
    renewLease: false,
    clock,
    random,
    whenAbandoned,
  };

  let attempts = 0;
  const handler = async () => {
    const isLucky = number() < 0.4 + 0.2 * attempts++;
    const [when, how] = [number() * 15_000, number()];
    await clock.sleep(when);
    if (isLucky) return provider.charge();
    if (how < 0.25) return new Promise<never>(() => {});
    if (how < 0.5) {
      provider.charge();
      return new Promise<never>(() => {});
    }
    if (how < 0.75) {
      // The process is dead, and its request arrives.
      void clock.sleep(number() * 20_000).then(() => provider.charge());
      return new Promise<never>(() => {});
    }
    provider.charge();
    throw new OutcomeUnknownError(new TypeError("fetch failed"));
  };

  const times = Array.from({ length: 1 + Math.floor(number() * 4) }, () => number() * 8 * MINUTE);
  const callers = times.map((at) => ({
    at,
    act: () => void runOnce(options, "order-1", {}, handler).catch(() => {}),
  }));
  const asking = async (previous: Parameters<typeof verify>[0]) => {
    const verdict = verify(previous);
    if (verdict.outcome !== "unknown") conclusiveAt ??= previous.askedAt;
    await clock.sleep(number() * 5000);
    downFrom ??= clock.now();
    return verdict;
  };
  const asked = shape.whenAbandoned === "ask" ? asking : "hold";
  let oldestMs = 0;
  const observe = (reported: ReconcilerEvent) => {
    if (reported.event === "unsettled") oldestMs = reported.oldestMs;
  };
  const settle = reconciler({ store, clock, random, operations: { pay: asked }, observe });
  let [runsSince, runsToSettle] = [0, 0];
  const runs = Array.from({ length: 30 }, (_, minute) => ({
    at: (minute + 1) * MINUTE,
    act: () => {
      void settle({}, { getRemainingTimeInMillis: () => 50_000 } as never).catch(() => {});
      runsSince = isOpen() && conclusiveAt !== undefined ? runsSince + 1 : 0;
      runsToSettle = Math.max(runsToSettle, runsSince);
    },
  }));
  for (const { at, act } of [...callers, ...runs].sort((one, other) => one.at - other.at)) {
    await clock.advance(START + at - clock.now());
    act();
  }
  await clock.advance(MINUTE);

  let isListed = false;
  for await (const _ of memory.unknownOutcomes({ before: clock.now() })) isListed = true;
  const record = memory.records.get(recordKey);
  return {
    charges: provider.charges.length,
    hasLied: provider.hasLied,
    state: record?.state ?? "absent",
    isListed,
    runsToSettle,
    oldestMs,
  };
}

describe("random schedules of callers, deaths and a reconciler", () => {
  it.each(Object.entries(SHAPES))(
    "H42: a provider that %s charges no customer twice",
    async (name, shape) => {
      const schedules = inTier(200, 17_000);
      const tally = { completed: 0, released: 0, held: 0, "in-progress": 0, absent: 0, failed: 0 };
      let [unsettled, slowest] = [0, 0];
      for (let seed = 1; seed <= schedules; seed++) {
        const where = `${name}, seed ${seed}`;
        const { charges, hasLied, state, isListed, runsToSettle, oldestMs } = await play(shape, seed);
        tally[state as keyof typeof tally]++;
        slowest = Math.max(slowest, runsToSettle);
        const isUnknown = state === "held" || state === "in-progress";
        if (isUnknown) unsettled++;
        // A lie is the only evidence that may be wrong.
        expect(charges, where).toBeLessThanOrEqual(hasLied ? 2 : 1);
        if (state === "completed") expect(charges, where).toBeGreaterThan(0);
        if (state === "released" && shape.whenAbandoned === "ask" && !hasLied) expect(charges, where).toBe(0);
        if (isUnknown && shape.whenAbandoned !== "run") {
          expect(isListed, where).toBe(true);
          // There was no call for many minutes, and the age is reported all the same.
          expect(oldestMs, where).toBeGreaterThan(10 * MINUTE);
        }
      }
      console.log(
        `${name}: ${schedules} schedules, ${JSON.stringify(tally)}, settled within ${slowest} runs`,
      );
      if (shape.whenAbandoned === "ask") {
        expect(unsettled / schedules).toBeLessThanOrEqual(0.001);
        expect(slowest).toBeLessThanOrEqual(2);
      }
    },
    inTier(60_000, 1_800_000),
  );

  it("finds the second charge if a provider accepts no keys, and attempts just run again", async () => {
    let twice = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const { charges } = await play({ keepsKeysMs: 0, whenAbandoned: "run" }, seed);
      if (charges > 1) twice++;
    }

    expect(twice).toBeGreaterThan(10);
  });
});
