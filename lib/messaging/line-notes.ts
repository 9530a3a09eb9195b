/**
 * Notes about waiting lines, as data: their content, what they mean for a message, and how each event changes them. A
 * line is a group of one FIFO destination. A note is about one line, or about the whole destination. Pure.
 */
import { hashTuple } from "../core/identity.ts";
import { destinationOf } from "../core/messages/address.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { retryDelayMs } from "./retry-delay.ts";

export interface LineNote {
  /** The number of invocations in which the line failed. */
  readonly tries: number;
  /** Epoch ms: the line isn't tried before this time. */
  readonly until: number;
  /** Epoch ms: the time of the first waiting commit. */
  readonly from: number;
  /** Epoch ms: when this note was made. */
  readonly since: number;
  /** The youngest waiting commit of each shard: the shard's others are sent before it. */
  readonly last: Readonly<Record<string, readonly [recordKey: string, committedAt: number]>>;
  /** Epoch ms: relays hold their messages back until then, so that the sweeper can finish the line. */
  readonly handover?: number | undefined;
}

/** By the name of a line, or of a whole destination. */
export type LineNotes = Readonly<Record<string, LineNote>>;

/** The names of a message's line and of its destination. */
export interface LineNames {
  readonly destination: string;
  readonly line: string;
}

/** `undefined` for a message without an order. */
export function linesOf(message: StoredMessage): LineNames | undefined {
  // The message comes from a database and can have any shape.
  const { queue, topic, group, deliverAt }: Readonly<Record<string, unknown>> = Object(message);
  const address = queue ?? topic;
  if (typeof group !== "string" || typeof address !== "string" || !address.endsWith(".fifo"))
    return undefined;
  // It's delivered at its own time.
  if (deliverAt !== undefined) return undefined;
  const destination = hashTuple(destinationOf(message)).slice(0, 16);
  return { destination, line: `${destination}/${hashTuple(group).slice(0, 16)}` };
}

/** Unreadable text counts as no notes: that loses the order, but no message. */
export function parseNotes(text: string | undefined): LineNotes {
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

/** The notes that apply to a message. */
export function notesFor(notes: LineNotes, { destination, line }: LineNames): LineNote[] {
  return [notes[destination], notes[line]].filter((note) => note !== undefined);
}

/**
 * When a commit that waits for a note is due: a thousandth of the time between two commits is enough to keep their order.
 * A commit made after that time has its place from the start.
 */
export function placeIn({ until, from }: LineNote, { committedAt }: Pick<Unsent, "committedAt">): number {
  return Math.max(committedAt, until + (committedAt - from) / 1000);
}

/** If more of its lines than this have notes, the whole destination waits. */
const MAX_LINES = 50;

/** The name for a failure's note: the line, or the destination if all of it or too many of its lines failed. */
export function nameOfFailure(notes: LineNotes, { destination, line }: LineNames, isWhole: boolean): string {
  const lines = Object.keys(notes).filter((name) => name.startsWith(`${destination}/`));
  return isWhole || (lines.length >= MAX_LINES && !lines.includes(line)) ? destination : line;
}

/** The line failed again, and this commit waits for it. */
export function withFailure(notes: LineNotes, name: string, commit: Unsent, now: number): LineNotes {
  const previous = notes[name] ?? newNote(commit, now);
  const tries = previous.tries + 1;
  // Never earlier than before: a process that was frozen meanwhile would mix up commits that others have placed.
  const until = Math.max(previous.until, now + retryDelayMs(tries));
  const note = { ...previous, tries, until, handover: undefined };
  return { ...notes, [name]: withLast(note, commit) };
}

/** The commit waits for the line, which gets a note if it has none. */
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

/** Marks a shard as empty, unless another commit has joined it. A note without shards is deleted. */
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
