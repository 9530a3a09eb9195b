// The model's worker is held to the real engine: the same call makes the same requests, gets the same answer, and leaves
// the same record.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { inTier } from "../setup/tier.ts";
import { CALLS, engineCases } from "./engine-cases.ts";
import { playEngine } from "./engine-play.ts";
import { playModel } from "./model-play.ts";

/** The short form plays every fifth case. */
const STRIDE = inTier(5, 1);

describe("the model's worker", { timeout: 120_000 }, () => {
  it("H1, H4, H7, H8: does what the engine does, for every record, end of the handler, and fault of a request", async () => {
    const differences: unknown[] = [];
    let [count, index] = [0, 0];
    for (const each of engineCases((plain) => playModel(plain).requests.length)) {
      if (index++ % STRIDE !== 0) continue;
      count++;
      const [real, model] = [await playEngine(each), playModel(each)];
      if (!isDeepStrictEqual(real, model)) differences.push({ each, real, model });
    }

    console.log(`the engine does what the model says: ${count} calls, of ${Object.keys(CALLS).length} kinds`);
    expect(differences.slice(0, 3)).toEqual([]);
  });
});
