// Random sagas whose steps run at most once, with no `verify`: each ends by itself once the faults are over.
import { describe, expect, it } from "vitest";
import { inTier } from "../setup/tier.ts";
import { playRandomSaga } from "./random-given.ts";

describe("random sagas under throttling, deaths and a rollout", () => {
  it(
    "H81: R3: none waits for a person if it can go on, or turn back, by itself",
    async () => {
      const runs = inTier(300, 6000);
      const ends = { completed: 0, failed: 0 };
      const stuck: string[] = [];
      for (let run = 1; run <= runs; run++) {
        const seed = `saga ${run}`;
        const { state, listed, effects, added, log } = await playRandomSaga(seed);
        const all = Object.values(effects);
        const isDone =
          state === "completed" &&
          Object.entries(effects).every(([name, { done, undone }]) => (done || name === added) && !undone);
        const isUndone = state === "failed" && all.every(({ done, undone }) => done === undone);
        if ((isDone || isUndone) && listed === 0) ends[state as keyof typeof ends]++;
        else stuck.push([`${seed}: ${state}, ${JSON.stringify(effects)}`, ...log].join("\n  "));
      }
      console.log(
        `${runs} random sagas: ${ends.completed} done, ${ends.failed} undone, ${stuck.length} stuck`,
      );

      expect(stuck[0]).toBeUndefined();
      expect(Math.min(ends.completed, ends.failed)).toBeGreaterThan(runs / 20);
    },
    inTier(60_000, 600_000),
  );
});
