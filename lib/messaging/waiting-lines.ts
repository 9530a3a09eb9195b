/**
 * Keeps the order of FIFO messages: every message with a group passes through here. Failed and waiting messages of this
 * invocation, and the notes of other senders, decide whether it may go on. Only the sweeper sends to a line with a note,
 * oldest commit first, so that nothing overtakes waiting messages.
 */
import type { Clock } from "../core/clock.ts";
import { dueTimeOf } from "../core/messages/deliver-at.ts";
import type { Outbox, Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { waitingMessages } from "./commit-end.ts";
import type { Dispatch } from "./connections.ts";
import { NOT_ASKED, NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "./destination-queue.ts";
import type { Fence } from "./known-destinations.ts";
import {
  destinationIn,
  isMarkedPlace,
  isResting,
  type LineNames,
  linesOf,
  nameOfFailure,
  notesFor,
  placeIn,
  withFailure,
  withMoving,
  withWaiting,
} from "./line-notes.ts";
import { SharedNotes } from "./shared-notes.ts";

/** Longer than a relay that hasn't seen a note yet can run. */
const KNOWN_AFTER_MS = 60_000;

export class WaitingLines {
  readonly notes: SharedNotes;
  readonly #clock: Clock;
  readonly #isRelay: boolean;
  readonly #fence: Fence | undefined;
  /** Names of the lines and destinations that failed in this invocation. */
  readonly #failed = new Set<string>();
  /** By line name: commits from this time on (epoch ms) send nothing to it in this invocation. */
  readonly #blockedFrom = new Map<string, number>();
  /** Names of the lines of commits that come back in a moment. */
  readonly #heldBack = new Set<string>();

  constructor(
    outbox: Pick<Outbox, "readNotes" | "replaceNotes">,
    clock: Clock,
    isRelay: boolean,
    fence?: Fence,
  ) {
    this.notes = new SharedNotes(outbox);
    this.#clock = clock;
    this.#isRelay = isRelay;
    this.#fence = fence;
  }

  /**
   * Reads the notes before the first commit that needs them; `undefined` if there's nothing to wait for.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  prepare(commit: Unsent): Promise<void> | undefined {
    const needsNotes = () => commit.messages.some((message) => this.#namesOf(commit, message) !== undefined);
    return !this.notes.isRead && needsNotes() ? this.notes.read() : undefined;
  }

  /** Whether a commit should come back in a moment, because the sweeper is about to finish one of its lines. */
  isHeldBack(commit: Unsent): boolean {
    const lines = this.#waitingIn(commit);
    const isHeld = lines.some(
      (names) => this.#heldBack.has(names.line) || this.#admits(names, commit) === "hold",
    );
    // Its other lines wait with it, so that no later commit overtakes it there.
    if (isHeld) for (const { line } of lines) this.#heldBack.add(line);
    return isHeld;
  }

  /** Sends a message if it's next. `end` is called once; the rest of its line waits as long as the message does. */
  send(
    commit: Unsent,
    message: StoredMessage,
    dispatch: Pick<Dispatch, "send">,
    end: (ended: SendEnd) => void,
  ): void {
    // No consumer can have seen a message before it's due, so its age counts from then.
    const committedAt = Math.max(commit.committedAt, dueTimeOf(message) || 0);
    const dated = { ...message, committedAt };
    const names = this.#namesOf(commit, message);
    const endInLine = (ended: SendEnd) => {
      if (names && !ended.result.sent) this.#holdUp(names, commit, ended);
      end(ended);
    };
    if (names && this.#admits(names, commit) !== "go") endInLine(NOT_ATTEMPTED);
    else dispatch.send(dated, endInLine);
  }

  /** For each message that waits for a note, when it's due in the order (epoch ms). */
  dueTimes(commit: Unsent): (number | undefined)[] {
    return commit.messages.map((message) => {
      const names = this.#namesOf(commit, message);
      const notes = names ? notesFor(this.notes.current, names) : [];
      return notes.length === 0 ? undefined : Math.max(...notes.map((note) => placeIn(note, commit)));
    });
  }

  /**
   * Whether a commit that was found due at this time waits only for lines that aren't tried now, so that it needn't be taken.
   * The index doesn't show for which lines, so all of them have to rest, and then do so until this invocation ends. Read the
   * notes after the index: the note about a line is saved before a commit waits for it.
   */
  passes(dueAt: number): boolean {
    const notes = Object.entries(this.notes.current);
    // If all notes were lost, those made since then are younger than the commit's place.
    if (!isMarkedPlace(dueAt) || !notes.some(([, { until }]) => until <= dueAt)) return false;
    const now = this.#clock.now();
    const rests = ([name, note]: (typeof notes)[number]) =>
      this.#failed.has(name) || this.#failed.has(destinationIn(name)) || isResting(note, now);
    if (!notes.every(rests)) return false;
    for (const [name] of notes) this.#failed.add(name);
    return true;
  }

  /** A message of the commit that waits for no line failed: the commit must be due again at that message's retry time. */
  leaveForRetry(commit: Unsent): void {
    for (const { destination, line } of this.#waitingIn(commit)) {
      for (const name of [destination, line]) this.notes.change((notes) => withMoving(notes, name));
    }
  }

  /** Another sender has the commit, so no later commit may overtake it in this invocation. */
  block(commit: Unsent): void {
    for (const names of this.#waitingIn(commit)) this.#block(names, commit);
  }

  /** Another sender has the commit, and all senders must see that it waits. */
  leave(commit: Unsent): void {
    for (const names of this.#waitingIn(commit)) this.#leave(names, commit);
  }

  /** Whether every relay has seen by now that all waiting messages of a commit are left to the sweeper. */
  isLeftToSweeper(commit: Unsent): boolean {
    const known = this.#clock.now() - KNOWN_AFTER_MS;
    return waitingMessages(commit).every((message) => {
      const names = this.#namesOf(commit, message);
      return names !== undefined && notesFor(this.notes.current, names).some(({ since }) => since <= known);
    });
  }

  /** Whether nothing has failed or waited in this invocation, in the line or destination of this name. */
  isWorking(name: string): boolean {
    const isIn = (line: string) => line === name || line.startsWith(`${name}/`);
    return !this.#failed.has(name) && ![...this.#blockedFrom.keys()].some(isIn);
  }

  /** Whether a message of the commit waits in the line or destination of this name. */
  waitsIn(name: string, commit: Unsent): boolean {
    return this.#waitingIn(commit).some(({ destination, line }) => name === destination || name === line);
  }

  #waitingIn(commit: Unsent): LineNames[] {
    return waitingMessages(commit).flatMap((message) => this.#namesOf(commit, message) ?? []);
  }

  /** Also `undefined` for a message that its operation may not send: it must not hold up allowed ones. */
  #namesOf({ recordKey }: Unsent, message: StoredMessage): LineNames | undefined {
    return this.#fence?.(recordKey, message) === false ? undefined : linesOf(message);
  }

  #admits(names: LineNames, commit: Unsent): "go" | "wait" | "hold" {
    const { committedAt, dueAt } = commit;
    if (committedAt >= (this.#blockedFrom.get(names.line) ?? Number.POSITIVE_INFINITY)) return "wait";
    if (this.#failed.has(names.destination) || this.#failed.has(names.line)) return "wait";
    const notes = notesFor(this.notes.current, names);
    const now = this.#clock.now();
    if (notes.length === 0) return "go";
    if (this.#isRelay) return notes.some(({ handover = 0 }) => handover > now) ? "hold" : "wait";
    if (notes.some((note) => isResting(note, now))) return "wait";
    // A commit that isn't in its place yet has to get there first.
    return notes.every((note) => dueAt >= placeIn(note, commit)) ? "go" : "wait";
  }

  /** A message wasn't sent: later messages of its line wait, and other senders are notified if necessary. */
  #holdUp(names: LineNames, commit: Unsent, ended: SendEnd): void {
    this.#block(names, commit);
    const isNoted = notesFor(this.notes.current, names).length > 0;
    const isWhole = "cause" in ended || ended === NOT_ASKED;
    const hasFailed = isWhole || (ended.result !== NOT_ATTEMPTED.result && ended !== OUT_OF_TIME);
    if (!hasFailed) {
      // A message that only waits for another one, or for the relay's next invocation, doesn't need a note.
      if (isNoted && (ended !== OUT_OF_TIME || !this.#isRelay)) this.#leave(names, commit);
      return;
    }
    const name = nameOfFailure(this.notes.current, names, isWhole);
    if (this.#failed.has(name) || (this.#isRelay && isNoted)) this.#leave(names, commit);
    else {
      this.#failed.add(name);
      const now = this.#clock.now();
      this.notes.change((notes) => withFailure(notes, name, commit, now));
    }
  }

  #leave(names: LineNames, commit: Unsent): void {
    this.#block(names, commit);
    const { destination, line } = names;
    const now = this.#clock.now();
    const noted = [destination, line].filter((name) => this.notes.current[name]);
    for (const name of noted.length > 0 ? noted : [line]) {
      this.notes.change((notes) => withWaiting(notes, name, commit, now));
    }
  }

  #block({ line }: LineNames, { committedAt }: Unsent): void {
    const from = this.#blockedFrom.get(line) ?? Number.POSITIVE_INFINITY;
    this.#blockedFrom.set(line, Math.min(committedAt, from));
  }
}
