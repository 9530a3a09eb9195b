/**
 * Decides what waits. Messages with a group keep their order: failed and waiting messages of this invocation, and the notes
 * of other senders, decide whether the next one may go. Only the sweeper sends to a line with a note, oldest commit first,
 * so that nothing overtakes waiting messages. To a destination without order, a note only stops the sweeper, which would
 * otherwise try each waiting commit again.
 */
import type { Clock } from "../core/clock.ts";
import { type FoundUnsent, isQueued, type Outbox, queuePlace, type Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type CommitEnd, dueAtOf, nextTryAt, progressOf, waitingMessages } from "./commit-end.ts";
import type { Dispatch } from "./connections.ts";
import { NOT_ASKED, NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "./destination-queue.ts";
import type { Fence } from "./known-destinations.ts";
import {
  dueIn,
  isCovered,
  isOrdered,
  type LineNames,
  type LineNotes,
  linesOf,
  nameOfFailure,
  notesFor,
  type OrderedNames,
  ownName,
  type Waiting,
  withFailure,
  withOwn,
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
  /** Names of the lines in which another sender has a commit. */
  readonly #held = new Set<string>();
  /** Commits that got their place in this invocation: the index may not show them there yet. */
  readonly #moved = new Map<string, FoundUnsent & Pick<Unsent, "shard">>();

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
    const needsNotes = () => commit.messages.some((message) => isOrdered(this.#namesOf(commit, message)));
    return !this.notes.isRead && needsNotes() ? this.notes.read() : undefined;
  }

  /** Whether a commit should come back in a moment, because the sweeper is about to finish one of its lines. */
  isHeldBack(commit: Unsent): boolean {
    const lines = this.#waitingIn(commit).filter(isOrdered);
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
    const dated = { ...message, committedAt: commit.committedAt };
    const names = this.#namesOf(commit, message);
    const endInLine = (ended: SendEnd) => {
      if (names && !ended.result.sent) this.#holdUp(names, commit, ended);
      end(ended);
    };
    if (names && this.#admits(names, commit) !== "go") endInLine(NOT_ATTEMPTED);
    else dispatch.send(dated, endInLine);
  }

  /**
   * When the commit is due again after this end (epoch ms), or its place among those that wait behind others. `undefined` if the
   * saved notes don't cover it there: save them and ask again.
   */
  placeOf(commit: Unsent, end: CommitEnd, now: number): number | undefined {
    const waits = commit.messages.map((message) => {
      const names = this.#namesOf(commit, message);
      return names !== undefined && this.#isNoted(names);
    });
    const isInOrder = (message: StoredMessage, index: number) =>
      waits[index] && end.progress[index]?.state === "waiting" && linesOf(message)?.line !== undefined;
    // A message in order keeps its place, also if another one could be tried earlier.
    const isInQueue = !end.isCutShort && commit.messages.some(isInOrder);
    const dueAt = isInQueue ? undefined : dueAtOf(commit, end, now, waits);
    if (dueAt !== undefined) return dueAt;
    return this.#cover(commit, end, waits, now) ? this.#move(commit) : undefined;
  }

  /** Whether the saved notes say where the commit is found among those that wait. If not, they will when they are saved. */
  #cover(commit: Unsent, { progress }: CommitEnd, waits: readonly boolean[], now: number): boolean {
    const left = [...progress.entries()].filter(([, { state }]) => state === "waiting");
    const uncovered = left.flatMap(([index]) => {
      const names = waits[index] && this.#namesOf(commit, commit.messages[index]!);
      return names ? notedNames(this.notes.current, names) : [];
    });
    const { saved } = this.notes;
    const missing = uncovered.filter((name) => !isCovered(saved[name], commit));
    for (const name of missing) this.notes.change((notes) => withWaiting(notes, name, commit, now));
    const own = left.filter(([index]) => !waits[index]).map(([, each]) => nextTryAt(each, now));
    const until = own.length > 0 ? Math.min(...own) : undefined;
    if (until === undefined || saved[ownName(commit.recordKey)]?.until === until) return missing.length === 0;
    const isFull = withOwn(saved, commit, until, now) === saved;
    if (!isFull) this.notes.change((notes) => withOwn(notes, commit, until, now));
    return isFull && missing.length === 0;
  }

  #move({ recordKey, committedAt, shard, ...commit }: Unsent): number {
    const dueAt = queuePlace(committedAt);
    if (!isQueued(commit)) this.#moved.set(recordKey, { recordKey, dueAt, shard });
    return dueAt;
  }

  /** Commits of a shard that got their place in this invocation and weren't sent since, in order. */
  movedIn(shard: number): readonly FoundUnsent[] {
    const moved = [...this.#moved.values()].filter((each) => each.shard === shard);
    return moved.sort((one, other) => one.dueAt - other.dueAt);
  }

  /** Nothing of the commit is left to send. */
  forget(recordKey: string): void {
    this.#moved.delete(recordKey);
  }

  /**
   * Whether any message of a commit that waits behind others may be tried now. In a look, a line with a note isn't: its commits
   * that are elsewhere have to get their places first.
   */
  mayGo(commit: Unsent, isLook: boolean): boolean {
    const progress = progressOf(commit);
    const now = this.#clock.now();
    return commit.messages.some((message, index) => {
      const each = progress[index]!;
      if (each.state !== "waiting") return false;
      const names = this.#namesOf(commit, message);
      const notes = names ? notesFor(this.notes.current, names) : [];
      if (isLook && isOrdered(names) && notes.some((note) => isCovered(note, commit))) return false;
      const isInLine = names && (isOrdered(names) || notes.length > 0);
      return isInLine ? this.#admits(names, commit) === "go" : nextTryAt(each, 0) <= now;
    });
  }

  /** Another sender has the commit, so no later commit may overtake it in this invocation. */
  block(commit: Unsent): void {
    for (const names of this.#waitingIn(commit)) {
      if (!isOrdered(names)) continue;
      this.#block(names, commit);
      this.#held.add(names.line);
    }
  }

  /** Another sender has the commit, or it isn't its turn: all senders must see that it waits. */
  leave(commit: Unsent): void {
    for (const names of this.#waitingIn(commit)) this.#leave(names, commit);
  }

  /** Whether every relay has seen by now that all waiting messages of a commit are left to the sweeper. */
  isLeftToSweeper(commit: Unsent): boolean {
    const known = this.#clock.now() - KNOWN_AFTER_MS;
    return waitingMessages(commit).every((message) => {
      const names = this.#namesOf(commit, message);
      return isOrdered(names) && notesFor(this.notes.current, names).some(({ since }) => since <= known);
    });
  }

  /** What waits in a shard for a line or destination that is due. */
  dueIn(shard: number): Waiting[] {
    return dueIn(this.notes.current, shard, this.#clock.now());
  }

  /** Whether nothing that was committed at this time can be sent, in the line or destination of this name. */
  isStopped(name: string, committedAt: number): boolean {
    const [destination] = name.split("/") as [string];
    return (
      this.#failed.has(name) ||
      this.#failed.has(destination) ||
      committedAt >= (this.#blockedFrom.get(name) ?? Number.POSITIVE_INFINITY)
    );
  }

  /** Whether nothing has failed or waited in this invocation, in the line or destination of this name. */
  isWorking(name: string): boolean {
    return !this.#failed.has(name) && !isAnyIn(name, this.#blockedFrom.keys());
  }

  /** Whether another sender has a commit with a message in the line or destination of this name. */
  isHeld(name: string): boolean {
    return isAnyIn(name, this.#held);
  }

  /** Whether a message of the commit waits in the line or destination of this name, and for no other note. */
  needs(name: string, commit: Unsent): boolean {
    return this.#waitingIn(commit).some(({ destination, line = "" }) => {
      if (name !== destination && name !== line) return false;
      // Without an order, the sweeper also finds a commit that is due at a time of its own.
      if (line === "" && !isQueued(commit)) return false;
      return this.notes.current[name === line ? destination : line] === undefined;
    });
  }

  #waitingIn(commit: Unsent): LineNames[] {
    return waitingMessages(commit).flatMap((message) => this.#namesOf(commit, message) ?? []);
  }

  /** Also `undefined` for a message that its operation may not send: it must not hold up allowed ones. */
  #namesOf({ recordKey }: Unsent, message: StoredMessage): LineNames | undefined {
    return this.#fence?.(recordKey, message) === false ? undefined : linesOf(message);
  }

  /** Whether a message that isn't sent waits for a note, and not for a time of its own. */
  #isNoted(names: LineNames): boolean {
    if (isOrdered(names)) return notesFor(this.notes.current, names).length > 0;
    return !this.#isRelay && this.#isResting(names);
  }

  /** Whether a whole destination has failed, and isn't due yet. */
  #isResting({ destination }: LineNames): boolean {
    const { until } = this.notes.current[destination] ?? {};
    return this.#failed.has(destination) || (until !== undefined && until > this.#clock.now());
  }

  #admits(names: LineNames, commit: Unsent): "go" | "wait" | "hold" {
    if (!isOrdered(names)) return this.#isNoted(names) ? "wait" : "go";
    const { committedAt } = commit;
    if (committedAt >= (this.#blockedFrom.get(names.line) ?? Number.POSITIVE_INFINITY)) return "wait";
    if (this.#failed.has(names.destination) || this.#failed.has(names.line)) return "wait";
    const notes = notesFor(this.notes.current, names);
    const now = this.#clock.now();
    if (notes.length === 0) return "go";
    if (this.#isRelay) return notes.some(({ handover = 0 }) => handover > now) ? "hold" : "wait";
    if (notes.some(({ until }) => until > now)) return "wait";
    // A commit that isn't in its place yet has to get there first.
    return isQueued(commit) ? "go" : "wait";
  }

  /** A message wasn't sent: later messages of its line wait, and other senders are notified if necessary. */
  #holdUp(names: LineNames, commit: Unsent, ended: SendEnd): void {
    const isAsked = ended !== NOT_ASKED;
    if (!isOrdered(names)) {
      // Relays try each commit once. After that the sweeper spares the destination, not them.
      if (this.#isRelay) return;
      const isWhole = ("cause" in ended && ended.result !== NOT_ATTEMPTED.result) || !isAsked;
      if (isWhole && !this.#failed.has(names.destination)) this.#fail(names.destination, commit, true);
      else if (this.#isNoted(names)) this.#leave(names, commit);
      return;
    }
    const isNoted = notesFor(this.notes.current, names).length > 0;
    if (isNoted && !this.#isRelay && !isQueued(commit) && ended === NOT_ATTEMPTED) {
      // Nothing overtakes it: it gets its place, and this sweep sends it from there.
      this.#note(names, commit);
      return;
    }
    this.#block(names, commit);
    const isWhole = "cause" in ended || !isAsked;
    const hasFailed = isWhole || (ended.result !== NOT_ATTEMPTED.result && ended !== OUT_OF_TIME);
    if (!hasFailed) {
      // A message that only waits for another one, or for the relay's next invocation, doesn't need a note.
      if (isNoted && (ended !== OUT_OF_TIME || !this.#isRelay)) this.#leave(names, commit);
      return;
    }
    const name = nameOfFailure(this.notes.current, names, isWhole);
    if (this.#failed.has(name) || (this.#isRelay && isNoted)) this.#leave(names, commit);
    else this.#fail(name, commit);
  }

  #fail(name: string, commit: Unsent, isUnordered = false): void {
    this.#failed.add(name);
    const now = this.#clock.now();
    this.notes.change((notes) => withFailure(notes, name, commit, now, isUnordered));
  }

  #leave(names: LineNames, commit: Unsent): void {
    if (!isOrdered(names) && this.#isRelay) return;
    if (isOrdered(names)) this.#block(names, commit);
    this.#note(names, commit);
  }

  #note(names: LineNames, commit: Unsent): void {
    const now = this.#clock.now();
    for (const name of notedNames(this.notes.current, names)) {
      if (isQueued(commit) && isCovered(this.notes.current[name], commit)) continue;
      this.notes.change((notes) => withWaiting(notes, name, commit, now));
    }
  }

  #block({ line }: OrderedNames, { committedAt }: Unsent): void {
    const from = this.#blockedFrom.get(line) ?? Number.POSITIVE_INFINITY;
    this.#blockedFrom.set(line, Math.min(committedAt, from));
  }
}

/** The names of the notes that a waiting message needs. Without an order, it only needs one that exists. */
function notedNames(notes: LineNotes, names: LineNames): string[] {
  const { destination, line = destination } = names;
  const noted = [...new Set([destination, line])].filter((name) => notes[name]);
  return noted.length > 0 || !isOrdered(names) ? noted : [nameOfFailure(notes, names, false)];
}

function isAnyIn(name: string, lines: Iterable<string>): boolean {
  return [...lines].some((line) => line === name || line.startsWith(`${name}/`));
}
