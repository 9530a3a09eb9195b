// What the sweeper takes, leaves to others, and sends while a line waits.
import { describe, expect, it } from "vitest";
import { RecordCorruptError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { UNTRIED } from "../../lib/core/messages/outbox.ts";
import { linesOf, markedPlace } from "../../lib/messaging/line-notes.ts";
import type { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { messageOf, newSenders, noteText } from "./senders-given.ts";

const MINUTE = 60_000;
const NOTHING = { sent: 0, failed: 0, waiting: 0 };
const unreachable = new StoreUnavailableError("throttled", new Error("slow down"));
const corrupt = new RecordCorruptError("has no messages");
const { line, destination } = linesOf(messageOf("a1"))!;

type Senders = ReturnType<typeof newSenders>;

/** The commit waits only for lines, from that time on. */
async function placeAt(memory: MemoryOutbox, name: string, dueAt: number) {
  await memory.keep((await memory.load(`op##${name}`))!, [UNTRIED], markedPlace(dueAt));
}

/** How many commits were taken, each time before the first of them ended. */
const takenAtOnce = ({ asked }: Senders) =>
  (
    asked
      .map((each) => each[0])
      .join("")
      .match(/t+/g) ?? []
  ).map(({ length }) => length);

describe("outboxSweeper", () => {
  it.each([
    [undefined, MINUTE],
    [10, 10_000],
    [0, 0],
  ])("leaves commits to the relay that are younger than minAgeSeconds: %s", async (minAgeSeconds, ageMs) => {
    const world = newSenders(undefined, minAgeSeconds === undefined ? {} : { minAgeSeconds });
    world.commit("a1");
    await world.clock.advance(ageMs);

    expect(await world.sweep()).toEqual(NOTHING);
    expect(world.takings).toEqual([]);
    await world.clock.advance(1);
    expect(await world.sweep()).toEqual({ ...NOTHING, sent: 1 });
    expect(world.takings).toMatchObject([{ by: "sweeper" }]);
  });

  it("H98: N4: does nothing while another sweep has the outbox", async () => {
    const world = newSenders(() => ({ leaseSweep: async () => false }));
    world.commit("a1");
    await world.clock.advance(2 * MINUTE);

    expect(await world.sweep()).toEqual(NOTHING);
    expect([world.asked, world.backlogs]).toEqual([[], []]);
  });

  it.each([true, false])(
    "H35: holds back what follows a commit that a relay has, whether it's in the answer or not: %s",
    async (isInAnswer) => {
      const world = newSenders((memory) => ({
        async take(...taking) {
          const taken = await memory.take(...taking);
          return taken.state !== "held" || isInAnswer ? taken : { ...taken, unsent: undefined };
        },
      }));
      for (const name of ["a1", "a2", "b1"]) {
        world.commit(name);
        await world.clock.advance(1);
      }
      await world.take("a1", { by: "relay" });
      await world.clock.advance(2 * MINUTE);

      expect(await world.sweep()).toEqual({ sent: 1, failed: 0, waiting: 2 });
      expect(world.sent).toEqual(["b1"]);
      await world.clock.advance(5 * MINUTE);
      expect(await world.sweep()).toEqual({ sent: 2, failed: 0, waiting: 0 });
      expect(world.sent).toEqual(["b1", "a1", "a2"]);
    },
  );

  it.each([
    ["sent", "held"],
    ["sent", "over"],
    ["parked", "over"],
  ] as const)(
    "H35: holds back nothing for a commit that another sender has %s in between: %s",
    async (end, state) => {
      const world = newSenders((memory) => ({
        async take(recordKey, taking) {
          if (recordKey !== "op##a1") return memory.take(recordKey, taking);
          if (end === "sent") await memory.markSent((await memory.load(recordKey))!);
          else await memory.park(recordKey, taking.now);
          return { state, unsent: undefined };
        },
      }));
      for (const name of ["a1", "a2"]) world.commit(name);
      await world.clock.advance(2 * MINUTE);

      expect(await world.sweep()).toEqual({ ...NOTHING, sent: 1 });
      expect(world.sent).toEqual(["a2"]);
    },
  );

  it("H35: sends nothing after a commit that can't be read now, and releases what it has taken", async () => {
    const world = newSenders((memory) => ({
      take: async (...taking) => {
        if (taking[0] === "op##a1") throw unreachable;
        return memory.take(...taking);
      },
    }));
    const names = Array.from({ length: 14 }, (_, index) => `a${index + 1}`);
    for (const name of names) {
      world.commit(name);
      await world.clock.advance(1);
    }
    await world.clock.advance(2 * MINUTE);

    expect(await world.sweep()).toEqual({ sent: 0, failed: 1, waiting: 9 });
    expect(world.events).toMatchObject([
      { event: "send-failed", by: "sweeper", operation: "op", lagMs: MINUTE, error: unreachable },
    ]);
    expect(world.takings).toHaveLength(10);
    for (const name of names) expect(await world.take(name)).toMatchObject({ state: "taken" });
  });

  it("counts a commit that can never be read as failed, and sends those after it", async () => {
    const world = newSenders((memory) => ({
      take: async (...taking) => {
        if (taking[0] === "op##a1") throw corrupt;
        return memory.take(...taking);
      },
    }));
    for (const name of ["a1", "a2"]) world.commit(name);
    await world.clock.advance(2 * MINUTE);

    expect(await world.sweep()).toEqual({ sent: 1, failed: 1, waiting: 0 });
  });

  it("takes 10 commits at once, and the first that waits for a line alone", async () => {
    const world = newSenders();
    const names = Array.from({ length: 32 }, (_, index) => `a${index + 1}`);
    for (const name of names) {
      world.commit(name);
      await world.clock.advance(1);
    }
    await world.clock.advance(MINUTE);
    const at = world.clock.now();
    for (const [index, name] of names.slice(12).entries()) await placeAt(world.memory, name, at + index);
    await world.clock.advance(2 * MINUTE);

    expect(await world.sweep()).toEqual({ ...NOTHING, sent: 32 });
    expect(takenAtOnce(world)).toEqual([10, 2, 1, 10, 9]);
    expect(world.sent).toEqual(names);
  });

  it("H35: reads the notes again before it takes a commit that waits for a line", async () => {
    const world = newSenders((memory) => ({
      async *findUnsent(shard, before) {
        const now = world.clock.now();
        await memory.replaceNotes(undefined, noteText(line, now - MINUTE, { next: now + 1 }));
        for await (const page of memory.findUnsent(shard, before)) if (page.length > 0) yield page;
      },
    }));
    for (const name of ["a1", "a2"]) world.commit(name);
    await world.clock.advance(2 * MINUTE);
    await placeAt(world.memory, "a1", world.clock.now() - MINUTE - 1);

    expect(await world.sweep()).toEqual({ ...NOTHING, waiting: 2 });
    expect(world.sent).toEqual([]);
  });
});

describe("outboxSweeper, of young commits", () => {
  it.each([
    ["line", line],
    ["destination", destination],
  ])(
    "H35: sends them if every relay has known for a minute that their %s waits, and none before",
    async (_, name) => {
      const world = newSenders();
      const noted = world.clock.now();
      await world.memory.replaceNotes(undefined, noteText(name, noted));
      await world.clock.advance(MINUTE - 2);
      world.commit("a1");
      world.commit("b1");
      await world.clock.advance(1);

      expect(await world.sweep()).toEqual({ ...NOTHING, waiting: 2 });
      expect(world.takings).toEqual([]);
      await world.clock.advance(1);
      const isForBoth = name === destination;
      expect(await world.sweep()).toEqual({ sent: isForBoth ? 2 : 1, failed: 0, waiting: isForBoth ? 0 : 1 });
      expect(world.sent.sort()).toEqual(isForBoth ? ["a1", "b1"] : ["a1"]);
    },
  );

  it("leaves one to the relay that also has a message without a note, up to the age of a minute", async () => {
    const world = newSenders();
    await world.memory.replaceNotes(undefined, noteText(line, world.clock.now()));
    await world.clock.advance(MINUTE);
    world.commit(["a1", "s1"]);
    await world.clock.advance(MINUTE);

    expect(await world.sweep()).toEqual({ ...NOTHING, waiting: 1 });
    await world.clock.advance(1);
    expect(await world.sweep()).toEqual({ ...NOTHING, sent: 1 });
  });

  it("passes over one that the relay sends in between", async () => {
    const world = newSenders((memory) => ({
      async load(recordKey) {
        const unsent = await memory.load(recordKey);
        if (unsent) await memory.markSent(unsent);
        return undefined;
      },
    }));
    await world.memory.replaceNotes(undefined, noteText(line, world.clock.now()));
    world.commit("b1");
    await world.clock.advance(1);

    expect(await world.sweep()).toEqual(NOTHING);
  });
});
