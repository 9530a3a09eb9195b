/** What holds of calls with one key under every interleaving that fast-check can think of, on every store. */
import fc from "fast-check";
import { expect } from "vitest";
import { type Play, play } from "./race.ts";
import { type CallPlan, callPlans } from "./race-plan.ts";
import type { RacedStore } from "./raced-store.ts";

export interface RacePromise {
  /** A sentence. */
  readonly name: string;
  readonly modes: CallPlan["mode"][];
  readonly works: CallPlan["work"][];
  readonly retentionSeconds?: number;
  check(outcome: Play): void;
}

/** Every promise that does not depend on how the handler has its effect. */
function checkAnswers({ answers, stored, keyExpired }: Play): void {
  expect(keyExpired).toBe(0);
  // First answer equals every replay, and both equal what is stored.
  expect(new Set(answers).size).toBeLessThanOrEqual(1);
  if (stored !== undefined && answers.length > 0) expect(answers[0]).toBe(stored);
  if (answers.length > 0) expect(stored).toBeDefined();
}

function checkOneEffect({ effects, stored }: Play): void {
  expect(effects).toHaveLength(stored?.startsWith("value") ? 1 : 0);
}

export const LIVE_ATTEMPTS: RacePromise = {
  name: "claimed: never two live attempts, none after the first recorded answer, and one answer for all",
  modes: ["claimed"],
  works: ["effect"],
  check(outcome) {
    expect(outcome.overlaps).toEqual([]);
    expect(outcome.runsAfterRecord).toBe(0);
    expect(outcome.attempts).toHaveLength(new Set(outcome.attempts).size);
    checkAnswers(outcome);
  },
};

export const CLAIMED_COMMITS: RacePromise = {
  name: "claimed with commit: at most one effect, and one answer for all",
  modes: ["claimed"],
  works: ["commit"],
  check(outcome) {
    checkOneEffect(outcome);
    expect(outcome.overlaps).toEqual([]);
    checkAnswers(outcome);
  },
};

const OPTIMISTIC: RacePromise = {
  name: "optimistic: at most one effect, and one answer for all",
  modes: ["optimistic"],
  works: ["commit"],
  check(outcome) {
    checkOneEffect(outcome);
    checkAnswers(outcome);
  },
};

const ALL_MODES: RacePromise = {
  name: "both modes on one key, with a store that may fail open: at most one committed effect",
  modes: ["optimistic", "claimed", "unprotected"],
  works: ["commit"],
  check(outcome) {
    checkOneEffect(outcome);
    checkAnswers(outcome);
  },
};

const RETENTION: RacePromise = {
  name: "H40: no second effect before the retention of the first is over, and none without a report",
  modes: ["optimistic", "claimed", "unprotected"],
  works: ["commit"],
  retentionSeconds: 10,
  check({ effects, keyExpired }) {
    expect(effects.length).toBeLessThanOrEqual(1 + keyExpired);
    effects.forEach(({ at }, index) => {
      const former = effects[index - 1];
      if (former) expect(at - former.from).toBeGreaterThanOrEqual(10_000);
    });
  },
};

export const RACE_PROMISES = [LIVE_ATTEMPTS, CLAIMED_COMMITS, OPTIMISTIC, ALL_MODES, RETENTION] as const;

/** For `fc.assert`, or for `fc.check` where it should break. */
export function raceProperty<Write>(
  { modes, works, retentionSeconds, check }: RacePromise,
  fresh: () => RacedStore<Write> | Promise<RacedStore<Write>>,
) {
  const stage = retentionSeconds === undefined ? {} : { retentionSeconds };
  return fc.asyncProperty(fc.scheduler(), callPlans(modes, works), async (scheduler, calls) =>
    check(await play(scheduler, calls, await fresh(), stage)),
  );
}
