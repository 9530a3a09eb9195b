import type { StoredMessage, Unsent } from "onceonly/store-kit";
import { describe, expect, it } from "vitest";
import {
  NOT_ASKED,
  NOT_ATTEMPTED,
  OUT_OF_TIME,
  type SendEnd,
} from "../../lib/messaging/destination-queue.ts";
import { type LineNote, linesOf, markedPlace, placeIn } from "../../lib/messaging/line-notes.ts";
import { WaitingLines } from "../../lib/messaging/waiting-lines.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import {
  clock,
  commitOf,
  destination,
  inOrder,
  inOtherLine,
  line,
  noteOf,
  now,
  withoutOrder,
} from "./lines-given.ts";

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

  it("a commit waits in the line and in the destination of each of its messages", async () => {
    const lines = await newLines("sweeper");
    const commit = { ...commitOf(inOrder), messages: [inOrder, withoutOrder, inOtherLine] };
    const names = [inOrder, inOtherLine].map((message) => linesOf(message)?.line ?? "");

    expect([...names, destination].map((name) => lines.waitsIn(name, commit))).toEqual([true, true, true]);
    expect(lines.waitsIn("another", commit)).toBe(false);
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

  it("a message that its operation may not send is in no line", async () => {
    const outbox = new MemoryOutbox(() => {});
    const lines = new WaitingLines(outbox, clock, false, () => false);
    lines.block(commitOf(inOrder));
    lines.leave(commitOf(inOrder));

    expect(lines.isWorking(line)).toBe(true);
    expect(lines.notes.current).toEqual({});
  });

  it("H35: another message of the commit that is held up waits with it", async () => {
    const lines = await newLines("sweeper");
    lines.block(commitOf(inOrder));

    expect(sendTo(lines, commitOf(inOrder))).toBe(NOT_ATTEMPTED);
    expect(sendTo(lines, { ...commitOf(inOrder), committedAt: now - 501 })).toBe(SENT);
  });

  it("H35: waits for the later of the places in its line and in its destination", async () => {
    const notes = { [line]: noteOf({ until: now - 20 }), [destination]: noteOf() };
    const place = placeIn(noteOf(), commitOf(inOrder));
    const newNoted = async () => {
      const lines = await newLines("sweeper");
      lines.notes.change(() => notes);
      return lines;
    };
    const lines = await newNoted();

    expect(lines.dueTimes({ ...commitOf(inOrder), messages: [inOrder, withoutOrder] })).toEqual([
      place,
      undefined,
    ]);
    expect(sendTo(lines, commitOf(inOrder, place - 1))).toBe(NOT_ATTEMPTED);
    expect(sendTo(await newNoted(), commitOf(inOrder, place))).toBe(SENT);
  });

  it.each([
    [line, destination],
    [destination, line],
  ])("H35: waits while one of its two notes says so: %s", async (name, other) => {
    const notes = { [name]: noteOf({ next: now + 1 }), [other]: noteOf() };
    const resting = await newLines("sweeper");
    resting.notes.change(() => notes);
    expect(sendTo(resting, commitOf(inOrder, now + 1))).toBe(NOT_ATTEMPTED);

    const relay = await newLines("relay");
    relay.notes.change(() => ({ ...notes, [name]: noteOf({ handover: now + 1 }) }));
    expect(relay.isHeldBack(commitOf(inOrder))).toBe(true);
  });

  it.each<[string, StoredMessage, number]>([
    ["its commit", inOrder, now - 500],
    ["the time when it is due", { ...inOrder, deliverAt: new Date(now + 7).toISOString() }, now + 7],
    [
      "its commit, if it was due before",
      { ...inOrder, deliverAt: new Date(now - 700).toISOString() },
      now - 500,
    ],
  ])("a message's age counts from %s", async (_, message, committedAt) => {
    const lines = await newLines("sweeper");
    const dated: unknown[] = [];
    lines.send(commitOf(message), message, { send: (each) => void dated.push(each) }, () => {});

    expect(dated).toEqual([{ ...message, committedAt }]);
  });

  it("H35: after a failure nothing is sent to its line in this invocation, not even what is older", async () => {
    const lines = await newLines("sweeper");
    sendTo(lines, commitOf(inOrder), { result: { sent: false, code: "Refused" } });

    expect(sendTo(lines, { ...commitOf(inOrder, now + 1), committedAt: now - 600 })).toBe(NOT_ATTEMPTED);
    expect(sendTo(lines, commitOf(inOtherLine, now + 1))).toBe(SENT);
  });

  it.each([
    ["a request that fails as a whole", { ...NOT_ATTEMPTED, cause: new Error("down") }],
    ["a destination that is skipped", NOT_ASKED],
  ])("H35: after %s nothing is sent to any line of the destination", async (_, ended) => {
    const lines = await newLines("sweeper");
    sendTo(lines, commitOf(inOrder), ended);

    expect(Object.keys(lines.notes.current)).toEqual([destination]);
    expect(sendTo(lines, commitOf(inOtherLine, now + 1))).toBe(NOT_ATTEMPTED);
  });

  it("several failures of a destination in one invocation count as one", async () => {
    const lines = await newLines("sweeper");
    const ends: ((ended: SendEnd) => void)[] = [];
    const dispatch = { send: (_: StoredMessage, end: (ended: SendEnd) => void) => void ends.push(end) };
    for (const message of [inOrder, inOtherLine]) lines.send(commitOf(message), message, dispatch, () => {});
    for (const end of ends) end({ ...NOT_ATTEMPTED, cause: new Error("down") });

    expect(lines.notes.current[destination]?.tries).toBe(1);
  });

  it("a relay doesn't count its failure as a retry if the sweeper has noted the line in the meantime", async () => {
    const lines = await newLines("relay");
    const dispatch = {
      send(_: StoredMessage, end: (ended: SendEnd) => void) {
        lines.notes.change(() => ({ [line]: noteOf() }));
        end({ result: { sent: false, code: "Refused" } });
      },
    };
    lines.send(commitOf(inOrder), inOrder, dispatch, () => {});

    expect(lines.notes.current[line]).toEqual(
      noteOf({ last: { 3: ["op##a0", now - 1000], 5: ["op##a1", now - 500] } }),
    );
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
