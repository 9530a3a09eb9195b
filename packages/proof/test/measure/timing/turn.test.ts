import { describe, expect, it } from "vitest";
import { takeTurn } from "../../../measure/timing/turn.ts";

describe("takeTurn", () => {
  it("calls each key once, with the given number of concurrent callers, and keeps the responses", async () => {
    let [running, most] = [0, 0];
    const keys = Array.from({ length: 40 }, (_, nth) => `key ${nth}`);

    const { sample, answers } = await takeTurn(
      (key) => async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        return `answer to ${key}`;
      },
      keys,
      16,
    );

    expect(most).toBe(16);
    expect([...answers]).toEqual(keys.map((key) => [key, `answer to ${key}`]));
    expect(Object.keys(sample)).toEqual(["cpuMs", "heapKb", "latencyMs", "callsPerSecond"]);
  });
});
