/**
 * Notes about what waits, as data: their content, what they mean for a message, and how each event changes them. A line is
 * a group of one FIFO destination. A note is about one line, or about a whole destination, FIFO or not. Pure.
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
  /**
   * The youngest waiting commit of each shard: the shard's others are sent before it. `first` is the time of the oldest, or
   * earlier.
   */
  readonly last: Readonly<Record<string, LastInShard>>;
  /** Epoch ms: relays hold their messages back until then, so that the sweeper can finish the line. */
  readonly handover?: number | undefined;
  /** The messages have no order, so any of them can be tried first. */
  readonly isUnordered?: true;
}

/** `joinedAt` (epoch ms) is when the last of them joined. */
export type LastInShard = readonly [
  recordKey: string,
  committedAt: number,
  first?: number,
  joinedAt?: number,
];

/** By the name of a line, or of a whole destination. */
export type LineNotes = Readonly<Record<string, LineNote>>;

/** The names of a message's line and of its destination. */
export interface LineNames {
  readonly destination: string;
  /** Absent for a message without an order. */
  readonly line?: string | undefined;
}

/** The names of a message with an order. */
export interface OrderedNames extends LineNames {
  readonly line: string;
}

export const isOrdered = (names: LineNames | undefined): names is OrderedNames => names?.line !== undefined;

/** `undefined` for a message without an address. */
export function linesOf(message: StoredMessage): LineNames | undefined {
  // The message comes from a database and can have any shape.
  const { queue, topic, bus, group }: Readonly<Record<string, unknown>> = Object(message);
  const ordered = queue ?? topic;
  if (typeof (ordered ?? bus) !== "string") return undefined;
  const destination = hashTuple(destinationOf(message)).slice(0, 16);
  if (typeof group !== "string" || !String(ordered).endsWith(".fifo")) return { destination };
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
export function notesFor(notes: LineNotes, { destination, line = "" }: LineNames): LineNote[] {
  return [notes[destination], notes[line]].filter((note) => note !== undefined);
}

/** If more of its lines than this have notes, the whole destination waits. */
const MAX_LINES = 50;

/** With more than this for all destinations together, whole destinations wait: all notes are one item of at most 400 KB. */
const MAX_ENTRIES = 1000;

const entriesIn = (notes: LineNotes) =>
  Object.values(notes).reduce((count, { last }) => count + Object.keys(last).length, 0);

/** The name for a failure's note: the line, or the destination if all of it or too many of its lines failed. */
export function nameOfFailure(
  notes: LineNotes,
  { destination, line }: OrderedNames,
  isWhole: boolean,
): string {
  const lines = Object.keys(notes).filter((name) => name.startsWith(`${destination}/`));
  const isFull = lines.length >= MAX_LINES || entriesIn(notes) >= MAX_ENTRIES;
  return isWhole || (isFull && !lines.includes(line)) ? destination : line;
}

/** The line failed again, and this commit waits for it. */
export function withFailure(
  notes: LineNotes,
  name: string,
  commit: Unsent,
  now: number,
  isUnordered = false,
): LineNotes {
  const previous = notes[name] ?? newNote(commit, now);
  const tries = previous.tries + 1;
  // Never earlier than before: a process that was frozen meanwhile knows less than the others.
  const until = Math.max(previous.until, now + retryDelayMs(tries));
  const note = { ...previous, tries, until, handover: undefined, ...(isUnordered && { isUnordered }) };
  return { ...notes, [name]: withLast(note, commit, now) };
}

/** The commit waits for the line, which gets a note if it has none. */
export function withWaiting(notes: LineNotes, name: string, commit: Unsent, now: number): LineNotes {
  return { ...notes, [name]: withLast(notes[name] ?? newNote(commit, now), commit, now) };
}

/** Whether the sweeper finds the commit when it tries what waits for the note. */
export function isCovered(note: LineNote | undefined, { shard, committedAt }: Unsent): boolean {
  const last = note?.last[shard];
  return last !== undefined && firstIn(note!, last) <= committedAt && committedAt <= last[1];
}

const OWN = "own/";

/** More would make the item large; the sweeper finds the others when it looks at what waits. */
const MAX_OWN = 50;

/** The name for a note about one commit. */
export const ownName = (recordKey: string): string => OWN + hashTuple(recordKey).slice(0, 16);

export const isOwn = (name: string): boolean => name.startsWith(OWN);

/** The commit waits behind others, and another message of it is tried at a time of its own. */
export function withOwn(notes: LineNotes, commit: Unsent, until: number, now: number): LineNotes {
  const { recordKey, shard, committedAt } = commit;
  const name = ownName(recordKey);
  if (!notes[name] && Object.keys(notes).filter(isOwn).length >= MAX_OWN) return notes;
  const last: LineNote["last"] = { [shard]: [recordKey, committedAt, committedAt] };
  return { ...notes, [name]: { ...newNote(commit, now), until, last } };
}

function newNote({ committedAt }: Unsent, now: number): LineNote {
  return { tries: 0, until: now, from: committedAt, since: now, last: {} };
}

function withLast(note: LineNote, { recordKey, committedAt, shard }: Unsent, now: number): LineNote {
  const known = note.last[shard];
  const first = Math.min(committedAt, known ? firstIn(note, known) : committedAt);
  const joinedAt = Math.max(now, known?.[3] ?? now);
  const [key, time] = known && committedAt < known[1] ? known : [recordKey, committedAt];
  const last: LastInShard = [key, time, first, joinedAt];
  return { ...note, last: { ...note.last, [shard]: last } };
}

/** No commit of the shard that waits for the note was made before this time. */
function firstIn({ from }: LineNote, [, last, first = from]: LastInShard): number {
  // Without `first`, `from` may be of another shard.
  return Math.min(first, last);
}

/** The commits of one shard that wait for a note. */
export interface Waiting {
  readonly name: string;
  /** The youngest of them. */
  readonly lastKey: string;
  /** Epoch ms: none of them was made before or after this. */
  readonly from: number;
  readonly to: number;
  /** How many of the first commits come last in the next try. */
  readonly skip: number;
  /** Epoch ms: the note's time of the next try, and when the last commit joined. */
  readonly until: number;
  readonly joinedAt: number;
}

/** What waits in a shard for a line or destination that is due, oldest first. */
export function dueIn(notes: LineNotes, shard: number, now: number): Waiting[] {
  const all = Object.entries(notes).flatMap(([name, note]) => {
    const last = note.last[shard];
    if (!last || note.until > now) return [];
    const [lastKey, to, , joinedAt = 0] = last;
    const { until } = note;
    return [{ name, lastKey, from: firstIn(note, last), to, skip: skippedBy(note), until, joinedAt }];
  });
  return all.sort((one, other) => one.from - other.from);
}

/** A commit that can never be sent may fail the whole destination, so every second try begins with another one. */
function skippedBy({ isUnordered, tries }: LineNote): number {
  return isUnordered && tries % 2 === 0 ? (tries / 2) % 10 : 0;
}

/** None of them is older than `from`, or none is left. If a commit has joined them since, all are left. */
export function withLess(
  notes: LineNotes,
  { name, lastKey, from: former, until, joinedAt }: Waiting,
  shard: number,
  from?: number,
): LineNotes {
  const note = notes[name];
  const known = note?.last[shard];
  if (!note || !known || firstIn(note, known) !== former) return notes;
  if (from !== undefined)
    return {
      ...notes,
      [name]: { ...note, last: { ...note.last, [shard]: [known[0], known[1], from, known[3]] } },
    };
  if (known[0] !== lastKey || (known[3] ?? 0) !== joinedAt || note.until !== until) return notes;
  const { [shard]: _done, ...last } = note.last;
  const { [name]: _note, ...others } = notes;
  return Object.keys(last).length === 0 ? others : { ...others, [name]: { ...note, last } };
}

export function withHandover(notes: LineNotes, name: string, handover: number | undefined): LineNotes {
  return notes[name] ? { ...notes, [name]: { ...notes[name], handover } } : notes;
}
