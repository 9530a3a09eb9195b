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
  /** Epoch ms: commits that wait for the line are due from this time on, in their order. The line isn't tried before it. */
  readonly until: number;
  /** Epoch ms: the line isn't tried before this time either. Retries move it, and leave the waiting commits where they are. */
  readonly next?: number | undefined;
  /** Retries move `until` as well: a commit that waits for the line also has a message with its own retry time. */
  readonly isMoving?: boolean | undefined;
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

/** The destination in the name of a line, or of a destination. */
export function destinationIn(name: string): string {
  return name.split("/")[0]!;
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

/**
 * Added to the due time of a commit that waits only for lines, so that the index shows it. Places are thousandths of a
 * millisecond apart, so half of one doesn't change their order.
 */
const HALF_PLACE_MS = 0.0005;

export function markedPlace(place: number): number {
  return place + HALF_PLACE_MS;
}

/** A place is only as precise as its number: within a quarter of a thousandth. */
export function isMarkedPlace(dueAt: number): boolean {
  return Math.abs((((dueAt % 1) * 1000) % 1) - 0.5) < 0.25;
}

/** Whether the sweeper leaves the line alone for now. */
export function isResting({ until, next = until }: LineNote, now: number): boolean {
  return Math.max(until, next) > now;
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
  const next = Math.max(previous.next ?? previous.until, now + retryDelayMs(tries));
  const note = moved({ ...previous, tries, next, handover: undefined });
  return { ...notes, [name]: withLast(note, commit) };
}

/** A commit that waits for the line is also due at a time of its own, so its place has to move with the retries. */
export function withMoving(notes: LineNotes, name: string): LineNotes {
  const note = notes[name];
  return note ? { ...notes, [name]: moved({ ...note, isMoving: true }) } : notes;
}

function moved(note: LineNote): LineNote {
  const { until, next = until, isMoving } = note;
  return isMoving ? { ...note, until: Math.max(until, next) } : note;
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
