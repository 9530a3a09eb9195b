// Seeded randomness: the same seed gives the same numbers on every machine. Not for secrets.
import { hashTuple } from "../../../../lib/core/identity.ts";

export interface SeededRandom {
  /** In [0, 1). */
  fraction(): number;
  /** From `low` to `high`, both included. */
  integer(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  shuffle<T>(values: readonly T[]): T[];
}

/** Mulberry32: 32 bits of state are plenty for a plan. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    integer,
    pick: (choices) => choices[integer(0, choices.length - 1)]!,
    shuffle: (values) => {
      const shuffled = [...values];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = integer(0, last);
        [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
      }
      return shuffled;
    },
  };
}

/** In [0, 1), determined only by these words: for decisions that scheduling must not change. */
export function fractionOf(...words: string[]): number {
  return Buffer.from(hashTuple(...words), "base64url").readUInt32BE(0) / 2 ** 32;
}
