// A few duplicates on a real engine: checks that the hot key counts what it claims to count, for every contestant.
import { describe, expect, inject, it } from "vitest";
import { compareHotKey } from "../../../measure/hot-key/hot-key.ts";

const endpoint = inject("everyDynamodbEngine")[0]?.endpoint as string;
const DUPLICATES = 8;

const spent = (requests: number, writeUnits: number, readUnits: number) => ({
  requests: requests * DUPLICATES,
  writeUnits: writeUnits * DUPLICATES,
  readUnits: readUnits * DUPLICATES,
});

describe("compareHotKey", () => {
  it("counts 1 request and 1 write for each duplicate of a claim, and 1 effect for all of them", async () => {
    const { "onceonly, optimistic": _, ...claiming } = await compareHotKey(endpoint, () => {}, DUPLICATES);

    expect(Object.keys(claiming)).toHaveLength(3);
    for (const [name, result] of Object.entries(claiming)) {
      expect(result, name).toEqual({
        atWork: spent(1, 1, 0),
        afterwards: spent(1, 1, 0),
        runs: 1,
        effects: 1,
        replayed: [0, DUPLICATES],
      });
    }
  });

  it("H57: counts 1 effect in the optimistic mode, whose duplicates run until one has committed", async () => {
    const { "onceonly, optimistic": result } = await compareHotKey(endpoint, () => {}, DUPLICATES);

    expect(result).toMatchObject({ effects: 1, replayed: [DUPLICATES, DUPLICATES] });
    expect(result?.runs).toBeGreaterThan(1);
    expect(result?.afterwards).toEqual(spent(1, 0, 0.5));
  });
});
