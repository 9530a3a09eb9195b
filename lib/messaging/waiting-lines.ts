/** What of FIFO destinations has to wait in one invocation, by what this one sees and by what others have noted. */
import type { Clock } from "../core/clock.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import type { Outbox, Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type Ended, NOT_ASKED, NOT_ATTEMPTED, OUT_OF_TIME } from "./destination-queue.ts";
import type { Fence } from "./known-destinations.ts";
import {
  type LineNames,
  type LineNotes,
  linesOf,
  nameOfFailure,
  notesFor,
  placeIn,
  readNotes,
  withFailure,
  withWaiting,
} from "./line-notes.ts";

type Change = (notes: LineNotes) => LineNotes;

/** So many others can come between. */
const MAX_SAVES = 5;

export class WaitingLines {
  readonly #outbox: Pick<Outbox, "readNotes" | "replaceNotes">;
  readonly #clock: Clock;
  readonly #isRelay: boolean;
  readonly #fence: Fence | undefined;
  #text: string | undefined;
  #notes: LineNotes = {};
  #isRead = false;
  #changes: Change[] = [];
  /** Notes of what failed in this invocation. */
  readonly #failed = new Set<string>();
  /** From this commit (epoch ms) on nothing of a line is sent in this invocation. */
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

  /** None for what its operation may not send: it must not hold up those who may. */
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

  /** Whether all went well in this invocation, as far as anything was sent, where a note of this name is about. */
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
    // It is not at its place among those that wait: first it gets there.
    this.block(commit, message);
    return "wait";
  }

  /** When a message that waits for a note is due, at its place in the order (epoch ms). */
  dueAt(commit: Unsent, message: StoredMessage): number | undefined {
    const names = this.namesOf(commit, message);
    const notes = names ? notesFor(this.#notes, names) : [];
    return notes.length === 0 ? undefined : Math.max(...notes.map((note) => placeIn(note, commit)));
  }

  /** A message was not sent: what comes after it has to wait, for as long as it does. */
  note(commit: Unsent, message: StoredMessage, ended: Ended): void {
    const names = this.namesOf(commit, message);
    if (names === undefined) return;
    this.block(commit, message);
    const isNoted = notesFor(this.#notes, names).length > 0;
    const isWhole = "cause" in ended || ended === NOT_ASKED;
    const hasFailed = isWhole || (ended.result !== NOT_ATTEMPTED.result && ended !== OUT_OF_TIME);
    if (!hasFailed) {
      // Of what only waits for somebody else, or for the next invocation, nobody needs to know.
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

  /** A message waits behind others, or somebody else is at it. */
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

  /** Nothing that was committed later overtakes it in this invocation. */
  block(commit: Unsent, message: StoredMessage): void {
    const { committedAt } = commit;
    const line = this.namesOf(commit, message)?.line;
    if (line === undefined) return;
    this.#behind.set(line, Math.min(committedAt, this.#behind.get(line) ?? Number.POSITIVE_INFINITY));
  }

  /** Applied at once here, and to whatever others have noted when it is saved. */
  change(change: Change): void {
    this.#notes = change(this.#notes);
    this.#changes.push(change);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  save(): Promise<void> {
    // One after the other: each would find the notes of the other one.
    this.#saving = this.#saving.catch(() => {}).then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    for (let saves = 0; this.#changes.length > 0; saves++) {
      // More may come while these are saved.
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
