/**
 * What senders tell each other, through the outbox, about what has to wait: a group of a FIFO destination, or the whole of
 * it. As long as there is a note only the sweeper sends there, oldest first, so that nothing overtakes what waits. Pure.
 */

import { hashTuple } from "../core/identity.ts";
import { destinationOf } from "../core/messages/address.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";

export interface LineNote {
  /** In how many invocations it failed. */
  readonly tries: number;
  /** Epoch ms: nothing is tried before. */
  readonly until: number;
  /** Epoch ms: when the first commit that waits was made. */
  readonly from: number;
  /** Epoch ms: since when there is this note. */
  readonly since: number;
  /** Of each shard the youngest commit that waits: the others of that shard are sent before it. */
  readonly last: Readonly<Record<string, readonly [recordKey: string, committedAt: number]>>;
  /** Epoch ms: until then relays hold back what is to come, so that the sweeper comes to an end. */
  readonly handover?: number | undefined;
}

/** By the name of a destination, or of a line of it. */
export type LineNotes = Readonly<Record<string, LineNote>>;

/** What is ordered among each other: the names of its destination, and of its line there. `undefined` without order. */
export interface LineNames {
  readonly destination: string;
  readonly line: string;
}

/** With more lines than this one waits for its whole destination. */
const MAX_LINES = 50;

export function linesOf(message: StoredMessage): LineNames | undefined {
  // It comes from a database, and may be anything.
  const { queue, topic, group }: Readonly<Record<string, unknown>> = Object(message);
  const address = queue ?? topic;
  if (typeof group !== "string" || typeof address !== "string" || !address.endsWith(".fifo"))
    return undefined;
  const destination = hashTuple(destinationOf(message)).slice(0, 16);
  return { destination, line: `${destination}/${hashTuple(group).slice(0, 16)}` };
}

/** What cannot be read counts as nothing: order is lost then, and no message. */
export function readNotes(text: string | undefined): LineNotes {
  try {
    const notes: unknown = JSON.parse(text ?? "{}");
    const isNote = (note: unknown) =>
      ["until", "from", "since", "tries"].every((name) => Number.isFinite(Object(note)[name])) &&
      Object(note).last instanceof Object;
    if (Object.values(Object(notes)).every(isNote)) return { ...(notes as LineNotes) };
  } catch {
    // As promised.
  }
  return {};
}

/** Those that a message has to heed. */
export function notesFor(notes: LineNotes, { destination, line }: LineNames): LineNote[] {
  return [notes[destination], notes[line]].filter((note) => note !== undefined);
}

/**
 * What waits for a note keeps its order by when it is due: a thousandth of the time between the commits. One that was made
 * later than that is at its place from the beginning.
 */
export function placeIn({ until, from }: LineNote, { committedAt }: Pick<Unsent, "committedAt">): number {
  return Math.max(committedAt, until + (committedAt - from) / 1000);
}

/** The name under which a failure is noted: a line, unless all of its destination failed, or too many of its lines do. */
export function nameOfFailure(notes: LineNotes, { destination, line }: LineNames, isWhole: boolean): string {
  const lines = Object.keys(notes).filter((name) => name.startsWith(`${destination}/`));
  return isWhole || (lines.length >= MAX_LINES && !lines.includes(line)) ? destination : line;
}

export function withFailure(notes: LineNotes, name: string, commit: Unsent, now: number): LineNotes {
  const former = notes[name] ?? newNote(commit, now);
  const tries = former.tries + 1;
  // Of a process that was frozen meanwhile the news are old: what others have put at its place since stays in order.
  const until = Math.max(former.until, now + delayAfter(tries));
  const note = { ...former, tries, until, handover: undefined };
  return { ...notes, [name]: withLast(note, commit) };
}

/** The commit waits for this note, which is made where there is none. */
export function withWaiting(notes: LineNotes, name: string, commit: Unsent, now: number): LineNotes {
  return { ...notes, [name]: withLast(notes[name] ?? newNote(commit, now), commit) };
}

function newNote({ committedAt }: Unsent, now: number): LineNote {
  return { tries: 0, until: now, from: committedAt, since: now, last: {} };
}

function withLast(note: LineNote, { recordKey, committedAt, shard }: Unsent): LineNote {
  const [, latest = 0] = note.last[shard] ?? [];
  return committedAt < latest ? note : { ...note, last: { ...note.last, [shard]: [recordKey, committedAt] } };
}

/** Nothing of this shard waits any more, unless somebody has added to it; a note without any shard goes. */
export function withoutLast(notes: LineNotes, name: string, shard: string, recordKey: string): LineNotes {
  const note = notes[name];
  if (note?.last[shard]?.[0] !== recordKey) return notes;
  const { [shard]: _done, ...last } = note.last;
  const { [name]: _note, ...others } = notes;
  return Object.keys(last).length === 0 ? others : { ...others, [name]: { ...note, last } };
}

export function withHandover(notes: LineNotes, name: string, handover: number | undefined): LineNotes {
  return notes[name] ? { ...notes, [name]: { ...notes[name], handover } } : notes;
}

/** The first try after a failure comes with the next sweep, those after it at intervals that double. */
const FIRST_DELAY_MS = 30_000;
export const MAX_DELAY_MS = 900_000;

export function delayAfter(tries: number): number {
  return tries < 2 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 2));
}
