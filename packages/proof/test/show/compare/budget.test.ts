// The budget of requests and capacity, end to end through `httpIdempotent`: the paths that the benchmark counts.
import { describe, expect, inject, it } from "vitest";
import { capacityPaths } from "../../../measure/capacity/paths.ts";
import { createWorld } from "../../../measure/contestants/world.ts";
import { meteredClient } from "../../../measure/metering/metered-client.ts";

type Cost = readonly [requests: number, writeUnits: number, readUnits: number];

const BUDGET: Readonly<Record<string, Cost>> = {
  "first run, claimed": [2, 2, 0],
  "first run committing 1 order, claimed": [2, 5, 0],
  "first run committing 1 order and 1 message, claimed": [2, 5, 0],
  "first run committing 1 order and 1 message, optimistic": [2, 4, 0.5],
  "first run committing 1 order and 1 message, optimistic, `lookFirst: false`": [1, 4, 0],
  "first run, the handler puts 1 order on its own (not atomic)": [3, 3, 0],
  "first run that fails and is released": [2, 2, 0],
  "replay, small result": [1, 1, 0],
  "replay, small result, optimistic": [1, 0, 0.5],
  "concurrent duplicate, rejected": [1, 1, 0],
  "first run, 1 KB result": [2, 3, 0],
  "replay, 1 KB result": [1, 2, 0],
  "first run, 40 KB result": [3, 42, 0],
  "replay, 40 KB result": [2, 1, 10],
  "first run, 300 KB result": [3, 302, 0],
  "replay, 300 KB result": [2, 1, 37.5],
  "first run, answer of the claim lost": [3, 3, 0],
  "first run, answer of the completion lost": [3, 3, 0],
  "first run that fails, answer of the release lost": [3, 3, 0],
  // A transaction that is repeated with its token is charged as reads: 2 units for each of its 2 items.
  "first run committing 1 order and 1 message, claimed, answer of the commit lost": [3, 5, 4],
  "first run committing 1 order and 1 message, optimistic, answer of the look lost": [3, 4, 1],
  "first run committing 1 order and 1 message, optimistic, answer of the commit lost": [3, 4, 4.5],
  "first run committing 1 order and 1 message, optimistic, `lookFirst: false`, answer of the commit lost": [
    2, 4, 4,
  ],
};

/** Numbers that depend on how well a result compresses are limits; everything else is exact. */
const LIMITS = Object.keys(BUDGET).filter((name) => / (40|300) KB /.test(name));

describe.each(inject("dynamodbEngines"))("httpIdempotent's budget on $name", async ({ endpoint }) => {
  const metered = await meteredClient(endpoint);
  const paths = capacityPaths(metered, await createWorld(metered.client));

  it.each(paths)("keeps to its budget: $name", async ({ name, onceonly }) => {
    const [requests, writeUnits, readUnits] = BUDGET[name] as Cost;

    const tally = await onceonly();

    if (!LIMITS.includes(name)) return expect(tally).toEqual({ requests, writeUnits, readUnits });
    expect(tally.requests).toBe(requests);
    expect(tally.writeUnits).toBeLessThanOrEqual(writeUnits);
    expect(tally.readUnits).toBeLessThanOrEqual(readUnits);
  });

  it("has a budget for every path", () => {
    expect(paths.map(({ name }) => name)).toEqual(Object.keys(BUDGET));
  });
});
