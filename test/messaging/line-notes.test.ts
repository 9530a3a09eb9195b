import type { StoredMessage } from "onceonly/store-kit";
import { describe, expect, it } from "vitest";
import {
  isMarkedPlace,
  isResting,
  type LineNotes,
  linesOf,
  markedPlace,
  nameOfFailure,
  parseNotes,
  placeIn,
  withFailure,
  withHandover,
  withMoving,
  withoutLast,
  withWaiting,
} from "../../lib/messaging/line-notes.ts";
import { commitOf, destination, inOrder, line, noteOf, now, withoutOrder } from "./lines-given.ts";

describe("the notes of lines", () => {
  it.each<[string, object | null]>([
    ["no group", { queue: inOrder.queue }],
    ["a group that isn't a string", { ...inOrder, group: 7 }],
    ["an address that isn't a string", { ...inOrder, queue: 7 }],
    ["a standard queue", withoutOrder],
    ["a time of its own", { ...inOrder, deliverAt: "2999-01-01T00:00:00.000Z" }],
    ["no content", null],
  ])("a message with %s has no line", (_, message) => {
    expect(linesOf(message as StoredMessage)).toBeUndefined();
  });

  it.each<[string, string | undefined]>([
    ["absent", undefined],
    ["no JSON", "{"],
    ["a list", "[7]"],
    ["a note without its tries", JSON.stringify({ [line]: { ...noteOf(), tries: undefined } })],
    ["a note without its commits", JSON.stringify({ [line]: { ...noteOf(), last: undefined } })],
    ["a note among others", JSON.stringify({ [line]: noteOf(), [destination]: {} })],
  ])("that can't be read count as none: %s", (_, text) => {
    expect(parseNotes(text)).toEqual({});
    expect(parseNotes(JSON.stringify({ [line]: noteOf() }))).toEqual({ [line]: noteOf() });
  });

  it("the youngest commit of a shard is its last one, and of equally old ones the one that came later", () => {
    const commit = commitOf(inOrder);
    const first = withWaiting({}, line, commit, now);
    const same = withWaiting(first, line, { ...commit, recordKey: "op##same" }, now);
    const older = withWaiting(same, line, { ...commit, recordKey: "op##older", committedAt: now - 501 }, now);

    const lastOf = (notes: LineNotes) => notes[line]!.last;
    expect([first, same, older].map(lastOf)).toEqual([
      { 5: ["op##a1", now - 500] },
      { 5: ["op##same", now - 500] },
      { 5: ["op##same", now - 500] },
    ]);
  });

  it("the end of a commit changes nothing in another shard, and nothing without a note", () => {
    const notes = { [line]: noteOf() };

    expect(withoutLast(notes, line, "4", "op##a0")).toBe(notes);
    expect(withoutLast({}, line, "3", "op##a0")).toEqual({});
  });

  it("a handover leaves everything else as it is", () => {
    const notes = { [line]: noteOf(), [destination]: noteOf() };

    expect(withHandover(notes, line, now)).toEqual({ ...notes, [line]: noteOf({ handover: now }) });
  });

  it("when 50 lines of a destination have notes, the next failure is noted for all of it", () => {
    const names = Array.from({ length: 49 }, (_, index) => `${destination}/${index}`);
    const notes = Object.fromEntries([...names, line].map((name) => [name, noteOf()]));
    const { [line]: _own, ...others } = notes;
    const next = { destination, line: `${destination}/next` };

    expect(nameOfFailure(others, next, false)).toBe(next.line);
    expect(nameOfFailure({ ...others, "another/line": noteOf() }, next, false)).toBe(next.line);
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
    expect([0.00025, 0.0003, 0.0007].map(isMarkedPlace)).toEqual([false, true, true]);
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
