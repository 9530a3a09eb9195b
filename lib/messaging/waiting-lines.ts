/**
 * Decides which messages to FIFO destinations have to wait, by the ends in this invocation and by the notes of others.
 * Senders leave notes in the outbox about lines that wait: a group of a FIFO destination, or the whole destination. Only the
 * sweeper sends to a line with a note, oldest first, so that nothing overtakes what waits.
 */
import type { Clock } from "../core/clock.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { destinationOf } from "../core/messages/address.ts";
import type { Outbox, Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { NOT_ASKED, NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "./destination-queue.ts";
import type { Fence } from "./known-destinations.ts";

export interface LineNote {
  /** In how many invocations the line failed. */
  readonly tries: number;
  /** Epoch ms: nothing is tried before. */
  readonly until: number;
  /** Epoch ms: when the first commit that waits was made. */
  readonly from: number;
  /** Epoch ms: when this note was made. */
  readonly since: number;
  /** The youngest commit that waits, for each shard: the others of that shard are sent before it. */
  readonly last: Readonly<Record<string, readonly [recordKey: string, committedAt: number]>>;
  /** Epoch ms: until then relays hold their messages back, so that the sweeper comes to an end. */
  readonly handover?: number | undefined;
}

/** By the name of a line, or of a destination as a whole. */
export type LineNotes = Readonly<Record<string, LineNote>>;

/** The names of a message's line, and of the destination as a whole. */
export interface LineNames {
  readonly destination: string;
  readonly line: string;
}

/** `undefined` for a message that keeps no order. */
export function linesOf(message: StoredMessage): LineNames | undefined {
  // The message comes from a database, and may be anything.
  const { queue, topic, group }: Readonly<Record<string, unknown>> = Object(message);
  const address = queue ?? topic;
  if (typeof group !== "string" || typeof address !== "string" || !address.endsWith(".fifo"))
    return undefined;
  const destination = hashTuple(destinationOf(message)).slice(0, 16);
  return { destination, line: `${destination}/${hashTuple(group).slice(0, 16)}` };
}

type NotesChange = (notes: LineNotes) => LineNotes;

/** How many others may write their notes in between. */
const MAX_SAVES = 5;

export class WaitingLines {
  readonly #outbox: Pick<Outbox, "readNotes" | "replaceNotes">;
  readonly #clock: Clock;
  readonly #isRelay: boolean;
  readonly #fence: Fence | undefined;
  #text: string | undefined;
  #notes: LineNotes = {};
  #isRead = false;
  #changes: NotesChange[] = [];
  /** Names of the notes that failed in this invocation. */
  readonly #failed = new Set<string>();
  /** Commits from this one on (epoch ms) send nothing to a line in this invocation. */
  readonly #behind = new Map<string, number>();
  #saving: Promise<void> = Promise.resolve();

  constructor(
    outbox: Pick<Outbox, "readNotes" | "replaceNotes">,
    clock: Clock,
    isRelay: boolean,
    fence?: Fence,
  ) {
    this.#outbox = outbox;
    this.#clock = clock;
    this.#isRelay = isRelay;
    this.#fence = fence;
  }

  /** Whether the notes have to be read before this commit is sent. */
  needsNotes(commit: Unsent): boolean {
    return !this.#isRead && commit.messages.some((message) => this.namesOf(commit, message) !== undefined);
  }

  /** `undefined` too for a message that its operation may not send: it must not hold up those who may. */
  namesOf({ recordKey }: Unsent, message: StoredMessage): LineNames | undefined {
    return this.#fence?.(recordKey, message) === false ? undefined : linesOf(message);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async read(): Promise<void> {
    this.#text = await this.#outbox.readNotes();
    this.#notes = readNotes(this.#text);
    this.#isRead = true;
  }

  get notes(): LineNotes {
    return this.#notes;
  }

  /** Whether nothing failed or waited in this invocation, in the line or destination of this name. */
  isWorking(name: string): boolean {
    const isIn = (line: string) => line === name || line.startsWith(`${name}/`);
    return !this.#failed.has(name) && ![...this.#behind.keys()].some(isIn);
  }

  /** Whether a message may be sent now; `hold` if that is known in a moment. */
  admits(commit: Unsent, message: StoredMessage): "go" | "wait" | "hold" {
    const names = this.namesOf(commit, message);
    if (names === undefined) return "go";
    const { committedAt, dueAt } = commit;
    if (committedAt >= (this.#behind.get(names.line) ?? Number.POSITIVE_INFINITY)) return "wait";
    if (this.#failed.has(names.destination) || this.#failed.has(names.line)) return "wait";
    const notes = notesFor(this.#notes, names);
    const now = this.#clock.now();
    if (notes.length === 0) return "go";
    if (this.#isRelay) return notes.some(({ handover = 0 }) => handover > now) ? "hold" : "wait";
    if (notes.some(({ until }) => until > now)) return "wait";
    if (notes.every((note) => dueAt >= placeIn(note, commit))) return "go";
    // The commit has to get to its place in the order first.
    this.block(commit, message);
    return "wait";
  }

  /** When a message that waits for a note is due, at its place in the order (epoch ms). */
  dueAt(commit: Unsent, message: StoredMessage): number | undefined {
    const names = this.namesOf(commit, message);
    const notes = names ? notesFor(this.#notes, names) : [];
    return notes.length === 0 ? undefined : Math.max(...notes.map((note) => placeIn(note, commit)));
  }

  /** A message was not sent: later messages of its line wait as long as it does. */
  note(commit: Unsent, message: StoredMessage, ended: SendEnd): void {
    const names = this.namesOf(commit, message);
    if (names === undefined) return;
    this.block(commit, message);
    const isNoted = notesFor(this.#notes, names).length > 0;
    const isWhole = "cause" in ended || ended === NOT_ASKED;
    const hasFailed = isWhole || (ended.result !== NOT_ATTEMPTED.result && ended !== OUT_OF_TIME);
    if (!hasFailed) {
      // Nobody needs to know of a message that only waits for somebody else, or for the next invocation.
      if (isNoted && (ended !== OUT_OF_TIME || !this.#isRelay)) this.leave(commit, message);
      return;
    }
    const name = nameOfFailure(this.#notes, names, isWhole);
    if (this.#failed.has(name) || (this.#isRelay && isNoted)) this.leave(commit, message);
    else {
      this.#failed.add(name);
      const now = this.#clock.now();
      this.change((notes) => withFailure(notes, name, commit, now));
    }
  }

  /** A message waits behind others, or somebody else sends it. */
  leave(commit: Unsent, message: StoredMessage): void {
    const names = this.namesOf(commit, message);
    if (names === undefined) return;
    this.block(commit, message);
    const { destination, line } = names;
    const now = this.#clock.now();
    const noted = [destination, line].filter((name) => this.#notes[name]);
    for (const name of noted.length > 0 ? noted : [line]) {
      this.change((notes) => withWaiting(notes, name, commit, now));
    }
  }

  /** Nothing that was committed later overtakes the message in this invocation. */
  block(commit: Unsent, message: StoredMessage): void {
    const { committedAt } = commit;
    const line = this.namesOf(commit, message)?.line;
    if (line === undefined) return;
    this.#behind.set(line, Math.min(committedAt, this.#behind.get(line) ?? Number.POSITIVE_INFINITY));
  }

  /** Applies a change to the notes here at once, and on saving to the notes that others have written. */
  change(change: NotesChange): void {
    this.#notes = change(this.#notes);
    this.#changes.push(change);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  save(): Promise<void> {
    // One after the other: two at once would each find the notes of the other one.
    this.#saving = this.#saving.catch(() => {}).then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    for (let saves = 0; this.#changes.length > 0; saves++) {
      // More changes may come while these are saved.
      const changes = [...this.#changes];
      const former = readNotes(this.#text);
      const notes = JSON.stringify(changes.reduce((all, change) => change(all), former));
      const isSaved =
        notes === JSON.stringify(former) || (await this.#outbox.replaceNotes(this.#text, notes));
      if (isSaved) {
        this.#text = notes;
        this.#changes = this.#changes.slice(changes.length);
      } else if (saves < MAX_SAVES) this.#text = await this.#outbox.readNotes();
      else
        throw new StoreUnavailableError("conflict", new Error("the notes of the outbox change all the time"));
      this.#notes = this.#changes.reduce((all, change) => change(all), readNotes(this.#text));
    }
  }
}

/** Unreadable text counts as no notes: order is lost then, and no message. */
function readNotes(text: string | undefined): LineNotes {
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

/** The notes that a message has to heed. */
export function notesFor(notes: LineNotes, { destination, line }: LineNames): LineNote[] {
  return [notes[destination], notes[line]].filter((note) => note !== undefined);
}

/**
 * When a commit is due that waits for a note: a thousandth of the time between the commits keeps their order. A commit that
 * was made later than that is at its place from the beginning.
 */
function placeIn({ until, from }: LineNote, { committedAt }: Pick<Unsent, "committedAt">): number {
  return Math.max(committedAt, until + (committedAt - from) / 1000);
}

/** With more lines than this in the notes, the whole destination waits. */
const MAX_LINES = 50;

/** A failure is noted for its line, unless all of its destination failed, or too many of the destination's lines have. */
export function nameOfFailure(notes: LineNotes, { destination, line }: LineNames, isWhole: boolean): string {
  const lines = Object.keys(notes).filter((name) => name.startsWith(`${destination}/`));
  return isWhole || (lines.length >= MAX_LINES && !lines.includes(line)) ? destination : line;
}

function withFailure(notes: LineNotes, name: string, commit: Unsent, now: number): LineNotes {
  const former = notes[name] ?? newNote(commit, now);
  const tries = former.tries + 1;
  // A process that was frozen meanwhile has old news: commits that others have put at their places stay in order.
  const until = Math.max(former.until, now + retryDelayMs(tries));
  const note = { ...former, tries, until, handover: undefined };
  return { ...notes, [name]: withLast(note, commit) };
}

/** The commit waits for this note, which is made where there is none. */
function withWaiting(notes: LineNotes, name: string, commit: Unsent, now: number): LineNotes {
  return { ...notes, [name]: withLast(notes[name] ?? newNote(commit, now), commit) };
}

function newNote({ committedAt }: Unsent, now: number): LineNote {
  return { tries: 0, until: now, from: committedAt, since: now, last: {} };
}

function withLast(note: LineNote, { recordKey, committedAt, shard }: Unsent): LineNote {
  const [, latest = 0] = note.last[shard] ?? [];
  return committedAt < latest ? note : { ...note, last: { ...note.last, [shard]: [recordKey, committedAt] } };
}

/** Marks a shard as empty, unless somebody has added a commit to it. A note without any shard is deleted. */
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

/** The first try after a failure comes with the next sweep, later ones at intervals that double. */
const FIRST_DELAY_MS = 30_000;
export const MAX_RETRY_DELAY_MS = 900_000;

export function retryDelayMs(tries: number): number {
  return tries < 2 ? 0 : Math.min(MAX_RETRY_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 2));
}
