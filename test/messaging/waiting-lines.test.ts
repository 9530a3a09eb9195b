import type { StoredMessage, Unsent } from "onceonly/store-kit";
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "../../lib/messaging/destination-queue.ts";
import {
  isMarkedPlace,
  isResting,
  type LineNote,
  linesOf,
  markedPlace,
  nameOfFailure,
  placeIn,
  withFailure,
  withHandover,
  withMoving,
  withoutLast,
} from "../../lib/messaging/line-notes.ts";
import { WaitingLines } from "../../lib/messaging/waiting-lines.ts";
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
    ["sweeper", "waits until the line is tried again", { next: now + 1 }, now + 2, "wait"],
    ["sweeper", "goes at its place in the order", {}, now + 1, "go"],
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

  it("H35: after a message that isn't in its place nothing is sent that was committed later", async () => {
    const lines = await newLines("sweeper", noteOf());
    sendTo(lines, commitOf(inOrder, now - 500));

    expect(sendTo(lines, { ...commitOf(inOrder, now + 1), committedAt: now })).toBe(NOT_ATTEMPTED);
  });

  it("a line does not work, nor its destination, while a commit is held up in it", async () => {
    const lines = await newLines("sweeper");
    lines.block(commitOf(inOrder));

    expect([line, destination, "another"].map((name) => lines.isWorking(name))).toEqual([false, false, true]);
  });

  it.each<[string, Partial<LineNote>, number, boolean]>([
    ["waits only for a line that isn't tried yet", { next: now + 1 }, markedPlace(now), true],
    ["waits for a line that is tried now", { next: now }, markedPlace(now), false],
    ["has something else to send", { next: now + 1 }, now, false],
    ["has an older place than the note", { next: now + 1 }, markedPlace(now - 1), false],
  ])("R5: passes a commit or not, if it %s", async (_, more, dueAt, passes) => {
    const lines = await newLines("sweeper", noteOf(more));

    expect(lines.passes(dueAt)).toBe(passes);
    // What it passed keeps its line busy.
    expect(lines.isWorking(line)).toBe(!passes);
  });

  it.each([line, destination])("R5: passes nothing while another line is tried (%s)", async (name) => {
    const lines = await newLines("sweeper", noteOf());
    lines.notes.change((notes) => ({ ...notes, [name]: noteOf(), other: noteOf({ next: now + 1 }) }));
    expect(lines.passes(markedPlace(now))).toBe(false);
    const cause = name === destination && { cause: new Error("down") };
    sendTo(lines, commitOf(inOrder, now + 1), { result: { sent: false, code: "Refused" }, ...cause });

    expect(lines.passes(markedPlace(now))).toBe(true);
  });

  it("R5: notes that are read again keep the changes that aren't saved yet", async () => {
    const lines = await newLines("sweeper");
    sendTo(lines, commitOf(inOrder), { result: { sent: false, code: "Refused" } });
    await lines.notes.read();

    expect(Object.keys(lines.notes.current)).toEqual([line]);
  });

  it("messages without an order are never noted and never wait", async () => {
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
    sendTo(lines, commitOf(inOrder, now + 1), OUT_OF_TIME);

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
    const both = { [line]: noteOf({ last: { 3: ["op##a0", 1], 5: ["op##a1", 2] } }) };
    const one = withoutLast(both, line, "3", "op##a0");

    expect(one[line]?.last).toEqual({ 5: ["op##a1", 2] });
    expect(withoutLast(one, line, "5", "op##a0")).toBe(one);
    expect(withoutLast(one, line, "5", "op##a1")).toEqual({});
  });

  it("R5: retries leave waiting commits in their places, unless one of them has its own retry time", () => {
    const failed = withFailure({}, line, commitOf(inOrder), now);
    const again = withFailure(failed, line, commitOf(inOrder), now + 5);
    const moving = withMoving(again, line);
    const last = withFailure(moving, line, commitOf(inOrder), now + 90_000);

    expect([failed, again, moving, last].map((notes) => notes[line]!.until)).toEqual([
      now,
      now,
      now + 30_005,
      now + 150_000,
    ]);
    expect(isResting(again[line]!, now + 30_004)).toBe(true);
    expect(isResting(again[line]!, now + 30_005)).toBe(false);
    expect(withMoving({ [line]: noteOf() }, line)[line]!.until).toBe(now);
    expect(withMoving({}, line)).toEqual({});
  });

  it("R5: places are marked in the order of their commits, and places of earlier versions aren't", () => {
    const at = 1_790_000_000_000;
    const places = Array.from({ length: 3000 }, (_, ms) =>
      placeIn(noteOf({ until: at, from: at - 5000 }), { committedAt: at - 5000 + ms }),
    );

    expect(places.filter(isMarkedPlace)).toEqual([]);
    expect(places.map(markedPlace).filter(isMarkedPlace)).toHaveLength(places.length);
    for (const [index, place] of places.entries()) {
      expect(markedPlace(place)).toBeGreaterThan(place);
      expect(markedPlace(place)).toBeLessThan(places[index + 1] ?? Number.POSITIVE_INFINITY);
    }
  });

  it("a line without a note gets no handover", () => {
    expect(withHandover({}, line, now)).toEqual({});
  });
});
