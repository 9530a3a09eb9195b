// Plans that a random search has found, with what went wrong in them.
import { describe, expect, it } from "vitest";
import { effects, overtakings, played } from "./plays/outbox-ends.ts";
import type { OutboxStep } from "./plays/outbox-steps.ts";

const FOUND: Readonly<Record<string, readonly OutboxStep[]>> = {
  "a relay that was frozen before it noted its news writes them after others have noted theirs": [
    { do: "commit", groups: ["b"], isLarge: false },
    {
      do: "relay",
      batchSize: 1,
      faults: [
        { at: "send", kind: "freezes" },
        { at: 4, kind: "freezes" },
      ],
      refused: ["b", "e"],
    },
    { do: "wait", ms: 301_000 },
    { do: "commit", groups: ["b"], isLarge: false },
    { do: "relay", batchSize: 1, faults: [], refused: ["b", "e"] },
  ],
  "a relay and a sweeper note one group at the same time": [
    { do: "commit", groups: ["a"], isLarge: false },
    { do: "commit", groups: ["b"], isLarge: false },
    { do: "commit", groups: ["e", "a"], isLarge: false },
    { do: "wait", ms: 301_000 },
    { do: "commit", groups: ["e", "a"], isLarge: false },
    { do: "sweep", faults: [], refused: ["e"] },
    { do: "relay", batchSize: 10, faults: [], refused: [] },
    { do: "wait", ms: 20 },
    { do: "commit", groups: ["e", "a"], isLarge: false },
    { do: "wait", ms: 5 },
    { do: "relay", batchSize: 1, faults: [], refused: [] },
    { do: "sweep", faults: [], refused: ["b"] },
    { do: "sweep", faults: [], refused: [] },
  ],
  "a sweep freezes with a commit of a group of which one has failed, and later ones follow": [
    { do: "commit", groups: ["a"], isLarge: false },
    { do: "relay", batchSize: 1, faults: [], refused: ["a", "e"] },
    { do: "commit", groups: ["a"], isLarge: false },
    { do: "commit", groups: ["a"], isLarge: false },
    { do: "wait", ms: 61_000 },
    { do: "sweep", faults: [{ at: 4, kind: "freezes" }], refused: [] },
    { do: "wait", ms: 30_001 },
    { do: "commit", groups: ["a", "b"], isLarge: false },
    { do: "sweep", faults: [], refused: [] },
    { do: "commit", groups: ["a"], isLarge: false },
  ],
  "a relay holds a commit back for one of its groups, and a later one follows in the other group": [
    { do: "commit", groups: ["a"], isLarge: false },
    { do: "relay", batchSize: 1, faults: [], refused: ["a", "e"] },
    { do: "wait", ms: 5001 },
    { do: "commit", groups: ["e", "a"], isLarge: false },
    { do: "commit", groups: ["e"], isLarge: false },
    { do: "wait", ms: 299_000 },
    { do: "commit", groups: ["b"], isLarge: false },
    { do: "sweep", faults: [{ at: 7, kind: "fails" }], refused: [] },
    { do: "relay", batchSize: 1, faults: [{ at: 2, kind: "fails" }], refused: [] },
    { do: "wait", ms: 1000 },
    { do: "relay", batchSize: 3, faults: [], refused: [] },
  ],
};

describe("outboxRelay and outboxSweeper", () => {
  it.each(Object.entries(FOUND))("H33, H35: keep order and effects if %s", async (_, plan) => {
    const play = await played(plan);

    expect(effects(play)).toEqual(play.commits.flatMap(({ keys }) => keys).sort());
    expect(overtakings(play)).toEqual([]);
  });
});
