// A broken promise, as it was observed.
import type { Subject } from "../subject.ts";

export const KINDS = [
  "the effect is there twice",
  "two answers differ",
  "success without its effect",
  "refused for good, though it is written",
  "another system was asked under two names",
  "a conflict with oneself",
  "denied, though that very run is written",
  "another answer after the final one",
  "a late attempt's own answer instead of the winner's",
  "an error after a commit that was another one's",
  "a mismatch without a changed payload",
  "in progress, though no attempt runs",
  "stuck",
  "a fencing number that is not higher than an earlier run's",
  "an answer that should not be",
  "a call without an end",
  "a message is lost",
  "the effect of a message is there twice",
  "a message of a run that did not commit",
  "a message that comes back for ever",
  "a process ended by itself",
] as const;
export type Kind = (typeof KINDS)[number];

/** Only a store without a fence does this. */
export const OF_NO_FENCE: readonly Kind[] = [
  "the effect is there twice",
  "two answers differ",
  "success without its effect",
  "the effect of a message is there twice",
  "a message of a run that did not commit",
];

export interface Violation {
  readonly kind: Kind;
  readonly detail: string;
  /** Absent if it is not about a key. */
  readonly subject?: Subject;
}
