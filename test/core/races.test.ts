// The engine over MemoryStore under every interleaving that fast-check can think of. Requests arrive and answers
// return in any order, are lost, fail, or their worker stops for ever. Time jumps to whatever somebody sleeps for.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SettleAnswer, Settlement } from "../../lib/core/store.ts";
import { MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { inTier } from "../setup/tier.ts";
import { type Play, play } from "./plays/race.ts";
import { callPlans } from "./plays/race-plan.ts";

/** Every promise that does not depend on how the handler has its effect. */
function checkAnswers({ answers, stored, keyExpired }: Play): void {
  expect(keyExpired).toBe(0);
  // First answer equals every replay, and both equal what is stored.
  expect(new Set(answers).size).toBeLessThanOrEqual(1);
  if (stored !== undefined && answers.length > 0) expect(answers[0]).toBe(stored);
  if (answers.length > 0) expect(stored).toBeDefined();
}

const RUNS = { numRuns: inTier(150, 700) };

describe("races", () => {
  it("claimed: never two live attempts, none after the first recorded answer, and one answer for all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), callPlans(["claimed"], ["effect"]), async (scheduler, calls) => {
        const outcome = await play(scheduler, calls);

        expect(outcome.overlaps).toEqual([]);
        expect(outcome.runsAfterRecord).toBe(0);
        expect(outcome.attempts).toHaveLength(new Set(outcome.attempts).size);
        checkAnswers(outcome);
      }),
      RUNS,
    );
  });

  it("claimed with commit: at most one effect, and one answer for all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), callPlans(["claimed"], ["commit"]), async (scheduler, calls) => {
        const outcome = await play(scheduler, calls);

        expect(outcome.effects).toHaveLength(outcome.stored?.startsWith("value") ? 1 : 0);
        expect(outcome.overlaps).toEqual([]);
        checkAnswers(outcome);
      }),
      RUNS,
    );
  });

  it("optimistic: at most one effect, and one answer for all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), callPlans(["optimistic"], ["commit"]), async (scheduler, calls) => {
        const outcome = await play(scheduler, calls);

        expect(outcome.effects).toHaveLength(outcome.stored?.startsWith("value") ? 1 : 0);
        checkAnswers(outcome);
      }),
      RUNS,
    );
  });

  it("both modes on one key, with a store that may fail open: at most one committed effect", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        callPlans(["optimistic", "claimed", "unprotected"], ["commit"]),
        async (scheduler, calls) => {
          const outcome = await play(scheduler, calls);

          expect(outcome.effects).toHaveLength(outcome.stored?.startsWith("value") ? 1 : 0);
          checkAnswers(outcome);
        },
      ),
      RUNS,
    );
  });

  it("H40: no second effect before the retention of the first is over, and none without telling it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        callPlans(["optimistic", "claimed", "unprotected"], ["commit"]),
        async (scheduler, calls) => {
          const outcome = await play(scheduler, calls, { retentionSeconds: 10 });

          expect(outcome.effects.length).toBeLessThanOrEqual(1 + outcome.keyExpired);
          outcome.effects.forEach(({ at }, index) => {
            const former = outcome.effects[index - 1];
            if (former) expect(at - former.from).toBeGreaterThanOrEqual(10_000);
          });
        },
      ),
      RUNS,
    );
  });

  it("a store that forgets the token in its condition is found out", async () => {
    const property = fc.asyncProperty(
      fc.scheduler(),
      callPlans(["claimed"], ["commit"]),
      async (scheduler, calls) => {
        const outcome = await play(scheduler, calls, { memory: new TokenlessStore() });
        expect(outcome.effects.length).toBeLessThanOrEqual(1);
        checkAnswers(outcome);
      },
    );

    const { failed } = await fc.check(property, RUNS);

    expect(failed).toBe(true);
  });

  it("a store that takes over live leases is found out", async () => {
    const property = fc.asyncProperty(
      fc.scheduler(),
      callPlans(["claimed"], ["effect"]),
      async (scheduler, calls) => {
        const { overlaps } = await play(scheduler, calls, { memory: new ImpatientStore() });
        expect(overlaps).toEqual([]);
      },
    );

    const { failed } = await fc.check(property, RUNS);

    expect(failed).toBe(true);
  });
});

/** Negative control: whoever settles last wins, as with an update that has no condition. */
class TokenlessStore extends MemoryStore {
  override settle(settlement: Settlement<MemoryWrite>): Promise<SettleAnswer> {
    const token = this.records.get(settlement.recordKey)?.token ?? settlement.token;
    this.alter(settlement.recordKey, { state: "in-progress" });
    return super.settle({ ...settlement, token });
  }
}

/** Negative control: a lease means nothing. */
class ImpatientStore extends MemoryStore {
  override async claim(...parameters: Parameters<MemoryStore["claim"]>) {
    const [{ recordKey }] = parameters;
    if (this.records.get(recordKey)?.state === "in-progress") this.alter(recordKey, { leaseEndsAt: 0 });
    return super.claim(...parameters);
  }
}
