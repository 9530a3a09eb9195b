import type { StoredMessage, Unsent } from "onceonly";
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { NOT_ATTEMPTED, OUT_OF_TIME } from "../../lib/messaging/destination-queue.ts";
import {
  type LineNote,
  linesOf,
  nameOfFailure,
  WaitingLines,
  withHandover,
  withoutLast,
} from "../../lib/messaging/waiting-lines.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const inOrder: StoredMessage = { queue: `${URL}payments.fifo`, key: "a1", group: "a", body: "a1" };
const withoutOrder: StoredMessage = { queue: `${URL}payments`, key: "a1", group: "a", body: "a1" };
const { destination, line } = linesOf(inOrder)!;

const clock = fakeClock();
const now = clock.now();

const noteOf = (more: Partial<LineNote> = {}): LineNote => ({
  tries: 1,
  until: now,
  from: now - 1000,
  since: now - 1000,
  last: { 3: ["op##a0", now - 1000] },
  ...more,
});

const commitOf = (message: StoredMessage, dueAt = now): Unsent => ({
  recordKey: "op##a1",
  token: "mine",
  committedAt: now - 500,
  messages: [message],
  shard: 5,
  dueAt,
});

/** What waits, as a relay or a sweeper knows it that has read this note of the line. */
async function newLines(by: "relay" | "sweeper", note?: LineNote) {
  const outbox = new MemoryOutbox(() => {});
  if (note) await outbox.replaceNotes(undefined, JSON.stringify({ [line]: note }));
  const lines = new WaitingLines(outbox, clock, by === "relay");
  await lines.read();
  return lines;
}

describe("WaitingLines", () => {
  it.each([
    ["relay", "waits, since only the sweeper sends there", {}, now, "wait"],
    ["relay", "is held back while the sweeper comes to an end", { handover: now + 1 }, now, "hold"],
    ["relay", "waits once that took too long", { handover: now }, now, "wait"],
    ["sweeper", "waits until the next try", { until: now + 1 }, now + 2, "wait"],
    ["sweeper", "goes at its place in the order", {}, now + 1, "go"],
    ["sweeper", "waits where it is not at its place yet", {}, now - 500, "wait"],
  ] as const)(
    "H35: of a line that is noted, by the %s: what comes %s",
    async (by, _, more, dueAt, admitted) => {
      const lines = await newLines(by, noteOf(more));

      expect(lines.admits(commitOf(inOrder, dueAt), inOrder)).toBe(admitted);
    },
  );

  it("H35: behind what is not at its place nothing is sent that was committed later", async () => {
    const lines = await newLines("sweeper", noteOf());
    lines.admits(commitOf(inOrder, now - 500), inOrder);

    expect(lines.admits({ ...commitOf(inOrder, now + 1), committedAt: now }, inOrder)).toBe("wait");
  });

  it("a line does not work, nor its destination, while something of it is held up", async () => {
    const lines = await newLines("sweeper");
    lines.block(commitOf(inOrder), inOrder);

    expect([line, destination, "another"].map((name) => lines.isWorking(name))).toEqual([false, false, true]);
  });

  it("where nothing is in order, nothing is noted and nothing waits", async () => {
    const lines = await newLines("relay");
    const commit = commitOf(withoutOrder);
    lines.note(commit, withoutOrder, NOT_ATTEMPTED);
    lines.leave(commit, withoutOrder);
    lines.block(commit, withoutOrder);

    expect(lines.notes).toEqual({});
    expect(lines.admits(commit, withoutOrder)).toBe("go");
  });

  it.each([
    ["sweeper", ["3", "5"]],
    ["relay", ["3"]],
  ] as const)(
    "what the %s has no more time for: the sweeper adds it to what waits, a relay's comes again",
    async (by, shards) => {
      const lines = await newLines(by, noteOf());
      lines.note(commitOf(inOrder), inOrder, OUT_OF_TIME);

      expect(Object.keys(lines.notes[line]!.last)).toEqual(shards);
    },
  );
});

describe("the notes of lines", () => {
  it("with 50 lines of a destination the next one that fails waits with all of it", () => {
    const names = Array.from({ length: 49 }, (_, index) => `${destination}/${index}`);
    const notes = Object.fromEntries([...names, line].map((name) => [name, noteOf()]));
    const { [line]: _own, ...others } = notes;
    const next = { destination, line: `${destination}/next` };

    expect(nameOfFailure(others, next, false)).toBe(next.line);
    expect(nameOfFailure(notes, next, false)).toBe(destination);
    expect(nameOfFailure(notes, { destination, line }, false)).toBe(line);
  });

  it("a note goes with the last that waits in any shard, unless somebody has added to it", () => {
    const both = { [line]: noteOf({ last: { 3: ["op##a0", 1], 5: ["op##a1", 2] } }) };
    const one = withoutLast(both, line, "3", "op##a0");

    expect(one[line]?.last).toEqual({ 5: ["op##a1", 2] });
    expect(withoutLast(one, line, "5", "op##a0")).toBe(one);
    expect(withoutLast(one, line, "5", "op##a1")).toEqual({});
  });

  it("nobody is asked to hold back where there is no note any more", () => {
    expect(withHandover({}, line, now)).toEqual({});
  });
});
