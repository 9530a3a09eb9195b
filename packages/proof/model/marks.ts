/** An operation's steps as its record stores them, and their effects in other systems. */
import type { StoredStep } from "../../../lib/core/record.ts";

/** The third means that a saga has turned back, the last that it can only go forward, and has stopped. */
export const MARKS = ["first", "second", "turned back", "undo first", "undo second", "stopped"] as const;
export type MarkName = (typeof MARKS)[number];

export const MARK_STATES = ["begun", "done", "undone"] as const;

/** `attempt` is the token of the claim. */
export interface Mark extends Omit<StoredStep, "result"> {
  /** How many steps a saga that turns back has to undo. */
  readonly count: number;
}

export type Marks = Readonly<Partial<Record<MarkName, Mark>>>;
/** A record without steps has this object. */
export const NO_MARKS: Marks = {};

export interface StepWrite {
  readonly mark: Mark;
  /** What is to be recorded. */
  readonly seen: Mark | undefined;
}

export const isSameMark = (one: Mark | undefined, other: Mark | undefined): boolean =>
  one?.at === other?.at && one?.attempt === other?.attempt && one?.state === other?.state;

/** A mark that no other write has made. */
export const markOf = (
  marks: Marks,
  attempt: number,
  { state, tracked, count = 0 }: Pick<Mark, "state" | "tracked"> & Partial<Pick<Mark, "count">>,
): Mark => ({
  state,
  tracked,
  count,
  attempt,
  at: Math.max(0, ...Object.values(marks).map((mark) => mark.at)) + 1,
});

/** `canceled`: the compensation came, and there was nothing to undo. */
export const EFFECTS = ["none", "done", "undone", "canceled"] as const;
export type Effect = (typeof EFFECTS)[number];
/** The effects of the first and the second step. */
export type Effects = readonly [Effect, Effect];
export const NO_EFFECTS: Effects = ["none", "none"];

export const placeOf = (name: MarkName): 0 | 1 => (name.endsWith("first") ? 0 : 1);
