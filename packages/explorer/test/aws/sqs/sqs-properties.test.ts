import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Play } from "./plays/play.ts";
import { anySteps, type PlayStep, stepsWithoutChanges } from "./plays/steps.ts";

const RUNS = { numRuns: 300 };

async function played(steps: readonly PlayStep[], afterEach: (play: Play) => void = () => undefined) {
  const play = new Play();
  await play.begin();
  for (const step of steps) {
    await play.take(step);
    afterEach(play);
  }
  return play;
}

describe("SqsModel, a FIFO queue under any sequence of sends, receives, deletes, changes, waits, crashes and redrives", () => {
  it("loses no message and repeats none that was deleted", async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const play = await played(steps);
        const { sent, deleted } = play.witness;

        const left = await play.drain();

        expect([...left, ...deleted].sort()).toEqual([...sent.values()].flat().sort());
      }),
      RUNS,
    );
  });

  it("delivers the messages of a group for the first time in the order of their sending", async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const { sent, firstDelivered } = (await played(steps)).witness;

        for (const [group, bodies] of firstDelivered) {
          expect(bodies).toEqual(sent.get(group)?.slice(0, bodies.length));
        }
      }),
      RUNS,
    );
  });

  it("delivers nothing after an in-flight message of its group, heeds only handles in force, and deduplicates for exactly 5 minutes", async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        expect((await played(steps)).witness.complaints).toEqual([]);
      }),
      RUNS,
    );
  });

  it("never has two receivers in one group, unless a consumer gives single messages back", async () => {
    await fc.assert(
      fc.asyncProperty(stepsWithoutChanges, async (steps) => {
        await played(steps, ({ witness }) => expect(witness.groupsWithSeveralReceivers()).toEqual([]));
      }),
      RUNS,
    );
  });
});
