import type { StoredMessage, Unsent } from "onceonly/store-kit";
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { queuePlace, UNTRIED } from "../../lib/core/messages/outbox.ts";
import { NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "../../lib/messaging/destination-queue.ts";
import {
  dueIn,
  type LineNote,
  linesOf,
  nameOfFailure,
  type OrderedNames,
  withHandover,
  withLess,
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

/** The lines as a relay or a sweeper knows them that has read this note about one of them. */
async function newLines(by: "relay" | "sweeper", note?: LineNote) {
  const outbox = new MemoryOutbox(() => {});
  if (note) await outbox.replaceNotes(undefined, JSON.stringify({ [line]: note }));
  const lines = new WaitingLines(outbox, clock, by === "relay");
  await lines.notes.read();
  return lines;
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
    const end = {
      progress: [UNTRIED],
      isOver: false,
      isCutShort: false,
      isNews: false,
      hasFailed: false,
      parked: 0,
    };
    for (const commit of [{ recordKey, ...young }, old]) {
      expect(sendTo(lines, commit)).toBe(NOT_ATTEMPTED);
      expect(lines.placeOf(commit, end, now)).toBe(queuePlace(commit.committedAt));
    }

    expect(lines.movedIn(5).map((moved) => moved.recordKey)).toEqual(["op##a0", "op##a1"]);
    expect(lines.movedIn(3)).toEqual([]);
    lines.forget("op##a0");
    expect(lines.movedIn(5)).toHaveLength(1);
    expect(lines.isWorking(line)).toBe(true);
    expect(sendTo(lines, { ...old, dueAt: queuePlace(now - 900) })).toBe(SENT);
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
    const waiting = { name: line, lastKey: "op##a0", from: 1, to: 2 };
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
    const waiting = { name: line, lastKey: "op##a1", from: now - 500, to: now - 500 };
    const noted = withWaiting({}, line, commitOf(inOrder), now);
    const older = withWaiting(noted, line, { ...commitOf(inOrder), committedAt: now - 800 }, now);

    expect(withLess(noted, waiting, 5, now - 500)[line]?.last[5]).toEqual(["op##a1", now - 500, now - 500]);
    expect(older[line]?.last[5]).toEqual(["op##a1", now - 500, now - 800]);
    expect(withLess(older, waiting, 5, now - 400)).toBe(older);
    expect(withLess(noted, waiting, 5, now - 400)[line]?.last[5]).toEqual(["op##a1", now - 500, now - 400]);
  });

  it("R5: a note of an earlier version doesn't say what is oldest in a shard: its own time does, or that of the youngest", () => {
    const old = { [line]: noteOf({ from: 10, last: { 3: ["op##a0", 20], 5: ["op##a1", 5] } }) };

    expect(dueIn(old, 3, now)).toEqual([{ name: line, lastKey: "op##a0", from: 10, to: 20 }]);
    expect(dueIn(old, 5, now)).toEqual([{ name: line, lastKey: "op##a1", from: 5, to: 5 }]);
    expect(dueIn(old, 4, now)).toEqual([]);
  });

  it("a line without a note gets no handover", () => {
    expect(withHandover({}, line, now)).toEqual({});
  });
});
