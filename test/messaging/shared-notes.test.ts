import { describe, expect, it } from "vitest";
import type { LineNotes } from "../../lib/messaging/line-notes.ts";
import { SharedNotes } from "../../lib/messaging/shared-notes.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const note = { tries: 1, until: 7, from: 7, since: 7, last: {} };
const named = (name: string) => (notes: LineNotes) => ({ ...notes, [name]: note });

/** Notes of an outbox that others change before each of the first so many writes. */
function newNotes(othersFirst = 0) {
  const memory = new MemoryOutbox(() => {});
  let writes = 0;
  const outbox = withOutbox(memory, {
    async replaceNotes(previous, notes) {
      if (++writes > othersFirst) return memory.replaceNotes(previous, notes);
      await memory.replaceNotes(previous, JSON.stringify({ [`other ${writes}`]: note }));
      return false;
    },
  });
  const read = async () => Object.keys(JSON.parse((await memory.readNotes()) ?? "{}"));
  return { notes: new SharedNotes(outbox), read, writes: () => writes };
}

describe("SharedNotes", () => {
  it("adds its changes to those of others, who may come first five times", async () => {
    const { notes, read } = newNotes(5);
    notes.change(named("own"));

    await notes.save();

    expect(await read()).toEqual(["other 5", "own"]);
    expect(Object.keys(notes.current)).toEqual(["other 5", "own"]);
  });

  it("gives up if others come first once more, and keeps its changes", async () => {
    const { notes, read } = newNotes(6);
    notes.change(named("own"));

    await expect(notes.save()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "conflict" });
    expect(Object.keys(notes.current)).toContain("own");
    await notes.read();
    await notes.save();

    expect(await read()).toEqual(["other 6", "own"]);
  });

  it("writes nothing if the changes make no difference", async () => {
    const { notes, writes } = newNotes();
    notes.change((all) => ({ ...all }));

    await notes.save();
    notes.change(named("own"));
    await notes.save();
    notes.change(named("own"));
    await notes.save();

    expect(writes()).toBe(1);
  });

  it("says whether they have been read", async () => {
    const { notes } = newNotes();

    expect(notes.isRead).toBe(false);
    await notes.read();
    expect(notes.isRead).toBe(true);
  });
});
