// What the sweeper does with the note of a line that works again.
import { describe, expect, it } from "vitest";
import { type LineNote, linesOf } from "../../lib/messaging/line-notes.ts";
import { messageOf, newSenders, noteText } from "./senders-given.ts";

const MINUTE = 60_000;
const NOTHING = { sent: 0, failed: 0, waiting: 0 };
const { line } = linesOf(messageOf("a1"))!;

type Senders = ReturnType<typeof newSenders>;

describe("outboxSweeper, when a line works again", () => {
  /**
   * `a1` was refused and is accepted now. While it is sent, a relay leaves `a2` to the sweeper; the index shows `a2` to the
   * sweeper only after so many looks. `isWhole`: the whole destination failed.
   */
  async function newLine(looks: number, isWhole = false) {
    let found = 0;
    const world = newSenders((memory) => ({
      async *findUnsent(shard, before) {
        for await (const page of memory.findUnsent(shard, before)) {
          const isShown = !page.some(({ recordKey }) => recordKey === "op##a2") || ++found > looks;
          yield isShown ? page : [];
        }
      },
    }));
    world.commit("a1");
    if (isWhole) world.state.onSend = () => Promise.reject(new Error("down"));
    else world.state.refused = "a1";
    await world.relay(["a1"]);
    world.state.refused = "";
    await world.clock.advance(2 * MINUTE);
    world.state.onSend = async () => {
      world.state.onSend = async () => {};
      await world.clock.advance(1);
      world.commit("a2");
      await world.relay(["a2"]);
      await world.clock.advance(1);
    };
    for (const list of [world.slept, world.notes, world.sent]) list.length = 0;
    return world;
  }
  const handovers = ({ notes }: Senders) =>
    notes
      .flatMap((text) => Object.values(JSON.parse(text) as Record<string, LineNote>))
      .map((each) => each.handover);

  it.each([false, true])(
    "H35: relays hold back for 10 seconds, until it has sent what they left, and its note is deleted: destination %s",
    async (isWhole) => {
      const world = await newLine(2, isWhole);

      expect(await world.sweep()).toMatchObject({ sent: 2, failed: 0 });

      expect(world.sent).toEqual(["a1", "a2"]);
      expect(world.slept).toEqual([0, 100, 200]);
      expect(handovers(world)).toContain(world.clock.now() + 10_000);
      expect(await world.memory.readNotes()).toBe("{}");
    },
  );

  it("H35: gives up after six looks, and relays leave their messages to it again", async () => {
    const world = await newLine(99);

    await world.sweep();

    expect(world.sent).toEqual(["a1"]);
    expect(world.slept).toEqual([0, 100, 200, 400, 800, 1600]);
    const notes = JSON.parse((await world.memory.readNotes())!);
    expect(notes).toEqual({
      [line]: expect.objectContaining({ last: { 1: ["op##a2", expect.any(Number)] } }),
    });
    expect(notes[line]).not.toHaveProperty("handover");
  });

  it("asks no relay to hold back when its time is over", async () => {
    const world = await newLine(99);
    let looks = 0;
    const { load } = world.memory;
    world.memory.load = async (recordKey) => {
      looks += 1;
      return load.call(world.memory, recordKey);
    };
    await world.sweep(() => (looks > 0 ? 0 : 30_000));

    expect(looks).toBeGreaterThan(0);
    expect(world.slept).toEqual([]);
    expect(handovers(world).filter((at) => at !== undefined)).toEqual([]);
  });

  it("deletes its note although another message of the last commit waits in another line", async () => {
    const world = newSenders();
    const at = world.clock.now();
    world.commit(["a1", "b1"]);
    await world.memory.replaceNotes(undefined, noteText(line, at, { last: { 1: ["op##a1", at] } }));
    world.state.refused = "b1";
    await world.clock.advance(2 * MINUTE);
    await world.sweep();

    expect(Object.keys(JSON.parse((await world.memory.readNotes())!))).toEqual([
      linesOf(messageOf("b1"))!.line,
    ]);
  });

  it("doesn't look again for messages of a line that has just failed", async () => {
    const world = newSenders();
    world.commit("a1");
    world.state.refused = "a1";
    await world.clock.advance(2 * MINUTE);

    expect(await world.sweep()).toEqual({ ...NOTHING, failed: 1 });
    expect(world.slept).toEqual([]);
    expect(handovers(world)).toEqual([undefined]);
  });

  it("leaves the note of a line that isn't tried yet", async () => {
    const world = newSenders();
    const now = world.clock.now();
    const text = noteText(line, now, { next: now + 1, last: { 1: ["op##gone", now] } });
    await world.memory.replaceNotes(undefined, text);

    await world.sweep();
    expect(await world.memory.readNotes()).toBe(text);
    await world.clock.advance(1);
    await world.sweep();
    expect(await world.memory.readNotes()).toBe("{}");
  });
});
