/** Randomness from a seed, in named streams: draws from one stream do not change another. */
import { createHash } from "node:crypto";
import type { Random } from "onceonly/kit";

const HEX = "0123456789abcdef";

/** sfc32, a small generator of good quality. https://pracrand.sourceforge.net/RNG_engines.txt */
export class SeededRandom implements Random {
  readonly #seed: string;
  readonly #state: Int32Array;

  constructor(seed: number | string) {
    this.#seed = String(seed);
    const digest = createHash("sha256").update(this.#seed).digest();
    this.#state = new Int32Array([0, 4, 8, 12].map((offset) => digest.readInt32LE(offset)));
  }

  /** Another stream of the same seed. */
  stream(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }

  /** A whole number from 0 to 2^32 - 1. */
  bits(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, counter = 0] = state;
    const result = (((a + b) | 0) + counter) | 0;
    state[0] = b ^ (b >>> 9);
    state[1] = (c + (c << 3)) | 0;
    state[2] = (((c << 21) | (c >>> 11)) + result) | 0;
    state[3] = (counter + 1) | 0;
    return result >>> 0;
  }

  fraction = (): number => this.bits() / 2 ** 32;

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }

  fill(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.bits() >>> 24;
  }

  /** A UUID of version 4, like `crypto.randomUUID`. */
  token = (): string => {
    let text = "";
    for (let index = 0; index < 36; index++) {
      if (index === 8 || index === 13 || index === 18 || index === 23) text += "-";
      else if (index === 14) text += "4";
      else if (index === 19) text += HEX[8 + (this.bits() >>> 30)];
      else text += HEX[this.bits() >>> 28];
    }
    return text;
  };
}
