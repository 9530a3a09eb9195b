import type { StoredMessage, Unsent } from "onceonly/store-kit";
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { queuePlace, UNTRIED } from "../../lib/core/messages/outbox.ts";
import { NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "../../lib/messaging/destination-queue.ts";
import {
  dueIn,
  type LineNote,
  type LineNotes,
  linesOf,
  nameOfFailure,
  type OrderedNames,
  ownName,
  parseNotes,
  withHandover,
  withLess,
  withOwn,
  withWaiting,
} from "../../lib/messaging/line-notes.ts";
import { WaitingLines } from "../../lib/messaging/waiting-lines.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const inOrder: StoredMessage = { queue: `${URL}payments.fifo`, key: "a1", group: "a", body: "a1" };
const withoutOrder: StoredMessage = { queue: `${URL}payments`, key: "a1", group: "a", body: "a1" };
const { destination, line } = linesOf(inOrder) as OrderedNames;

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

const WAITS = {
  progress: [UNTRIED],
  isOver: false,
  isCutShort: false,
  isNews: false,
  hasFailed: false,
  parked: 0,
};

/** The lines as a relay or a sweeper knows them that has read this note about one of them. */
async function newLines(by: "relay" | "sweeper", note?: LineNote) {
  const outbox = new MemoryOutbox(() => {});
  if (note) await outbox.replaceNotes(undefined, JSON.stringify({ [line]: note }));
  const lines = new WaitingLines(outbox, clock, by === "relay");
  await lines.notes.read();
  return Object.assign(lines, { outbox });
}

const SENT: SendEnd = { result: { sent: true, messageId: "1", sequenceNumber: "" } };

/** How the message of a commit ends that would end in this way at its destination. */
function sendTo(lines: WaitingLines, commit: Unsent, atDestination = SENT): SendEnd | undefined {
  const [message] = commit.messages;
  let ended: SendEnd | undefined;
  const dispatch = { send: (_: StoredMessage, end: (ended: SendEnd) => void) => end(atDestination) };
  lines.send(commit, message!, dispatch, (end) => {
    ended = end;
  });
  return ended;
}

describe("WaitingLines", () => {
  it.each([
    ["relay", "waits, since only the sweeper sends there", {}, now, "wait"],
    ["relay", "is held back while the sweeper finishes the line", { handover: now + 1 }, now, "hold"],
    ["relay", "waits once that took too long", { handover: now }, now, "wait"],
    ["sweeper", "waits until the next try", { until: now + 1 }, now + 2, "wait"],
    ["sweeper", "goes at its place among those that wait", {}, queuePlace(now - 500), "go"],
    ["sweeper", "waits if it is not at its place yet", {}, now - 500, "wait"],
  ] as const)(
    "H35: for a line with a note, by the %s: a message %s",
    async (by, _, more, dueAt, admitted) => {
      const lines = await newLines(by, noteOf(more));
      const commit = commitOf(inOrder, dueAt);

      expect(lines.isHeldBack(commit)).toBe(admitted === "hold");
      expect(sendTo(lines, commit)).toBe(admitted === "go" ? SENT : NOT_ATTEMPTED);
    },
  );

  it("H35: R5: a message that isn't in its place gets there, and this sweep finds it there in its order", async () => {
    const lines = await newLines("sweeper", noteOf());
    const { recordKey, ...young } = commitOf(inOrder, now - 500);
    const old = { ...young, recordKey: "op##a0", committedAt: now - 900 };
    for (const commit of [{ recordKey, ...young }, old]) {
      expect(sendTo(lines, commit)).toBe(NOT_ATTEMPTED);
      await lines.notes.save();
      expect(lines.placeOf(commit, WAITS, now)).toBe(queuePlace(commit.committedAt));
    }

    expect(lines.movedIn(5).map((moved) => moved.recordKey)).toEqual(["op##a0", "op##a1"]);
    expect(lines.movedIn(3)).toEqual([]);
    lines.forget("op##a0");
    expect(lines.movedIn(5)).toHaveLength(1);
    expect(lines.isWorking(line)).toBe(true);
    expect(sendTo(lines, { ...old, dueAt: queuePlace(now - 900) })).toBe(SENT);
  });

  it("R5: a commit gets its place only when the saved notes say that it waits there, whoever has written them", async () => {
    const outbox = new MemoryOutbox(() => {});
    const lines = new WaitingLines(outbox, clock, true);
    await lines.notes.read();
    const commit = commitOf(inOrder);
    sendTo(lines, commit, { result: { sent: false, code: "Refused" } });
    // Meanwhile the whole destination has failed for another sender, in another shard.
    await outbox.replaceNotes(undefined, JSON.stringify({ [destination]: noteOf() }));
    await lines.notes.save();

    expect(lines.placeOf(commit, WAITS, now)).toBeUndefined();
    await lines.notes.save();
    expect(lines.placeOf(commit, WAITS, now)).toBe(queuePlace(commit.committedAt));
    const saved = parseNotes(await outbox.readNotes());
    for (const name of [line, destination]) expect(saved[name]!.last[5]![0]).toBe("op##a1");
  });

  it("R5: with too many notes about single commits, a commit gets its place without one", async () => {
    const outbox = new MemoryOutbox(() => {});
    const others = Array.from({ length: 50 }, (_, index) => [ownName(`op##${index}`), noteOf()]);
    await outbox.replaceNotes(undefined, JSON.stringify(Object.fromEntries([[line, noteOf()], ...others])));
    const lines = new WaitingLines(outbox, clock, true);
    await lines.notes.read();
    const commit = { ...commitOf(inOrder), recordKey: "op##both", messages: [inOrder, withoutOrder] };
    const end = { ...WAITS, progress: [UNTRIED, UNTRIED] };

    expect(lines.placeOf(commit, end, now)).toBeUndefined();
    await lines.notes.save();
    expect(lines.placeOf(commit, end, now)).toBe(queuePlace(commit.committedAt));
    expect(lines.notes.saved[ownName("op##both")]).toBeUndefined();
  });

  it("R5: a change that isn't needed by the notes as read is applied if others have changed them since", async () => {
    const lines = await newLines("relay", noteOf({ last: { 5: ["op##a1", now - 500, now - 500, now] } }));
    await lines.outbox.replaceNotes(await lines.outbox.readNotes(), "{}");
    lines.leave(commitOf(inOrder));
    await lines.notes.save();

    expect(Object.keys(parseNotes(await lines.outbox.readNotes()))).toEqual([line]);
  });

  it("a line does not work, nor its destination, while a commit is held up in it", async () => {
    const lines = await newLines("sweeper");
    lines.block(commitOf(inOrder));

    expect([line, destination, "another"].map((name) => lines.isWorking(name))).toEqual([false, false, true]);
  });

  it("R5: messages without an order wait for no note of a relay, and a relay leaves none about them", async () => {
    const lines = await newLines("relay");
    const commit = commitOf(withoutOrder);
    sendTo(lines, commit, NOT_ATTEMPTED);
    lines.leave(commit);
    lines.block(commit);

    expect(lines.notes.current).toEqual({});
    expect(sendTo(lines, commit)).toBe(SENT);
  });

  it("out of time, the sweeper adds a commit to those that wait for the note", async () => {
    const lines = await newLines("sweeper", noteOf());
    sendTo(lines, commitOf(inOrder, queuePlace(now)), OUT_OF_TIME);

    expect(Object.keys(lines.notes.current[line]!.last)).toEqual(["3", "5"]);
  });

  it("out of time, a relay adds nothing to a note that was made in between: the commit comes again", async () => {
    const lines = await newLines("relay");
    const dispatch = {
      send(_: StoredMessage, end: (ended: SendEnd) => void) {
        lines.notes.change(() => ({ [line]: noteOf() }));
        end(OUT_OF_TIME);
      },
    };
    lines.send(commitOf(inOrder), inOrder, dispatch, () => {});

    expect(Object.keys(lines.notes.current[line]!.last)).toEqual(["3"]);
    expect(lines.isWorking(line)).toBe(false);
  });
});

describe("the notes of lines", () => {
  it("when 50 lines of a destination have notes, the next failure is noted for all of it", () => {
    const names = Array.from({ length: 49 }, (_, index) => `${destination}/${index}`);
    const notes = Object.fromEntries([...names, line].map((name) => [name, noteOf()]));
    const { [line]: _own, ...others } = notes;
    const next = { destination, line: `${destination}/next` };

    expect(nameOfFailure(others, next, false)).toBe(next.line);
    expect(nameOfFailure(notes, next, false)).toBe(destination);
    expect(nameOfFailure(notes, { destination, line }, false)).toBe(line);
  });

  it("a note is deleted with the last commit that waits in any shard, unless another one has joined it", () => {
    const waiting = { name: line, lastKey: "op##a0", from: 1, to: 2, skip: 0, until: now, joinedAt: 0 };
    const both = { [line]: noteOf({ from: 1, last: { 3: ["op##a0", 2], 5: ["op##a1", 2, 2] } }) };
    const one = withLess(both, waiting, 3);

    expect(one[line]?.last).toEqual({ 5: ["op##a1", 2, 2] });
    expect(withLess(one, waiting, 3)).toBe(one);
    const inOther = { ...waiting, lastKey: "op##a1", from: 2 };
    expect(withLess(one, { ...inOther, lastKey: "op##a0" }, 5)).toBe(one);
    const older = withWaiting(one, line, { ...commitOf(inOrder), committedAt: 1 }, now);
    expect(withLess(older, inOther, 5)).toBe(older);
    expect(withLess(one, inOther, 5)).toEqual({});
  });

  it("R5: a note knows the oldest commit that waits in a shard, and forgets it unless an older one has joined it", () => {
    const waiting = {
      name: line,
      lastKey: "op##a1",
      from: now - 500,
      to: now - 500,
      skip: 0,
      until: now,
      joinedAt: now,
    };
    const noted = withWaiting({}, line, commitOf(inOrder), now);
    const older = withWaiting(noted, line, { ...commitOf(inOrder), committedAt: now - 800 }, now);

    expect(withLess(noted, waiting, 5, now - 500)[line]?.last[5]).toEqual([
      "op##a1",
      now - 500,
      now - 500,
      now,
    ]);
    expect(older[line]?.last[5]).toEqual(["op##a1", now - 500, now - 800, now]);
    expect(withLess(older, waiting, 5, now - 400)).toBe(older);
    expect(withLess(noted, waiting, 5, now - 400)[line]?.last[5]).toEqual([
      "op##a1",
      now - 500,
      now - 400,
      now,
    ]);
    // Commits between the oldest and the youngest have joined, or the line has failed again.
    const later = withWaiting(noted, line, commitOf(inOrder), now + 1);
    expect(withLess(later, waiting, 5)).toBe(later);
    expect(withLess(noted, { ...waiting, until: now - 1 }, 5)).toBe(noted);
    expect(withLess(noted, waiting, 5)).toEqual({});
  });

  it("R5: every second try of a destination without order skips more of the first commits", () => {
    const skips = [1, 2, 3, 4, 20].map((tries) => {
      const notes = { [destination]: noteOf({ tries, isUnordered: true }) };
      return dueIn(notes, 3, now)[0]!.skip;
    });

    expect(skips).toEqual([0, 1, 0, 2, 0]);
  });

  it("R5: few large notes: with a thousand entries, a line's failure is noted for its destination", () => {
    const last = Object.fromEntries(
      Array.from({ length: 1000 }, (_, shard) => [shard, ["op##a0", now] as const]),
    );
    const names = { destination, line };

    expect(nameOfFailure({ other: noteOf({ last }) }, names, false)).toBe(destination);
    expect(nameOfFailure({ [line]: noteOf({ last }) }, names, false)).toBe(line);
  });

  it("R5: no more than 50 commits have notes of their own, and each of them keeps its own", () => {
    const commits = Array.from({ length: 51 }, (_, index) => ({
      ...commitOf(inOrder),
      recordKey: `op##${index}`,
    }));
    const notes = commits.reduce((all, each) => withOwn(all, each, now, now), {} as LineNotes);

    expect(Object.keys(notes)).toHaveLength(50);
    expect(withOwn(notes, commits[50]!, now, now)).toBe(notes);
    expect(withOwn(notes, commits[0]!, now + 1, now)[ownName("op##0")]!.until).toBe(now + 1);
  });

  it("R5: a note of an earlier version doesn't say what is oldest in a shard: its own time does, or that of the youngest", () => {
    const old = { [line]: noteOf({ from: 10, last: { 3: ["op##a0", 20], 5: ["op##a1", 5] } }) };

    const unknown = { skip: 0, until: now, joinedAt: 0 };
    expect(dueIn(old, 3, now)).toEqual([{ name: line, lastKey: "op##a0", from: 10, to: 20, ...unknown }]);
    expect(dueIn(old, 5, now)).toEqual([{ name: line, lastKey: "op##a1", from: 5, to: 5, ...unknown }]);
    expect(dueIn(old, 4, now)).toEqual([]);
  });

  it("a line without a note gets no handover", () => {
    expect(withHandover({}, line, now)).toEqual({});
  });
});
