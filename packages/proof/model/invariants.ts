/** What must hold for every step of the model. Each invariant is checked where it could break, through `Watch.expect`. */
import { TRANSITIONS } from "../../../lib/core/record.ts";

export const INVARIANTS = {
  legalMove: "a record moves as the table in core/record.ts says",
  oneEffect: "within the retention of a committed effect there is no other one for its key",
  finishedStays: "a finished record never changes, until its retention is over or it is marked as sent",
  tokenOnWrite: "a write after the claim changes nothing unless the record carries its token",
  firstAnswer: "every recorded answer equals the first one",
  onlyAnswer: "within the retention of a committed effect no caller gets an answer that is not recorded",
  holderAnswers:
    "a value that is not recorded comes only from an attempt whose claim no other attempt has taken",
  refusedStays: "a commit whose handler got a refusal is not applied, before or after",
  claimsOnce: "a token claims once: a late copy of a claim never leaves a key claimed without an attempt",
  samePayload: "a caller gets the answer to its own payload only",
  ownClaim: "a caller is never refused because of its own claim or completion",
  notStuck: "a claim is not refused once the key is released, or its lease has ended",
  oneAtWork: "no attempt starts while another one that holds the claim is at work",
  runsExcused:
    "an effect in another system is repeated only after a failure of its handler, the retention, or a lease end where no key may be held",
  openStays: "where keys may be held, no record of unknown outcome is deleted or reset",
  doneStays: "a step that is done stays done, until its operation ends",
  stepsSkipped: "a step that is done, or whose result its handler has got, is not run again",
  stepAtMostOnce: "the effect of a step at most once is not repeated",
  onceEach: "each step of a saga, and each compensation, has its effect once",
  allOrNothing: "a saga that is done has all of its effects, and one that has failed has none",
  undoneInReverse: "nothing is undone before what was done after it",
  pivotStays: "nothing is undone once the pivot is done",
  lateDoesNothing: "a step has no effect once its compensation was there",
  fencingNumber:
    "every attempt gets a higher fencing number than all before it, until TTL deletes the record",
  messagesCommitted: "a message is sent only if its commit is recorded",
  messagesSent: "messages leave a record only after they were sent",
  unsentStays: "a record with unsent messages is never deleted or reset",
} as const;
export type Invariant = keyof typeof INVARIANTS;

type TableState = keyof typeof TRANSITIONS;

const NONE: readonly never[] = [];

/** Records what one step does: the moves it makes, and the invariants it breaks. */
export class Watch {
  broken: readonly Invariant[] = NONE;
  moves: readonly string[] = NONE;
  /** A caller gets a result that isn't recorded. */
  answersItself = false;

  expect(holds: boolean, invariant: Invariant): void {
    if (!holds) this.broken = [...this.broken, invariant];
  }

  /** Every change of a record's state goes through here, and so through the one table. */
  move(from: TableState, to: Exclude<TableState, "absent">): void {
    this.moves = [...this.moves, moveName(from, to)];
    this.expect((TRANSITIONS[from] as readonly string[]).includes(to), "legalMove");
  }
}

export const moveName = (from: string, to: string): string => `${from} → ${to}`;
