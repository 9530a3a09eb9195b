/** Repeatable randomness: the same seed gives the same tokens and the same jitter. */
import { createHash } from "node:crypto";
import type { Random } from "../core/clock.ts";

export function fakeRandom(seed: number | string = 0): Random {
  let drawn = 0;
  const draw = () => createHash("sha256").update(`${seed}:${drawn++}`).digest();
  return {
    token: () => draw().toString("hex").slice(0, 32),
    fraction: () => draw().readUInt32BE() / 2 ** 32,
  };
}
