/** Runs with two disturbances: a sample of all pairs, the same for the same seed. Pure. */
import { SeededRandom } from "../simulator/seeded-random.ts";
import type { Durations } from "./disturbance-kinds.ts";
import { type Disturbance, disturbanceAt, pairOf } from "./disturbances.ts";

/** How many pairs begin with each disturbance. */
const PAIRS_EACH = 2;
/** How many points the second may come after the first. */
const REACH = 12;

export function sampledPairs(
  firsts: readonly Disturbance[],
  durations: Durations,
  seed: number,
): Disturbance[] {
  const random = new SeededRandom(seed).stream("pairs");
  return firsts.flatMap((first) =>
    first.point === undefined
      ? []
      : Array.from({ length: PAIRS_EACH }, () => {
          const number = (first.point?.number ?? 0) + random.between(1, REACH);
          return pairOf(first, disturbanceAt(number, random, durations));
        }),
  );
}
