/** A report's contents as data: its numbers and its findings. */
import type { Finding, Point } from "./finding.ts";

/** An effect that happened more than once, and that `atLeastOnce` accepts. */
export interface Accepted {
  /** "POST https://gateway.example.com/charges" */
  readonly call: string;
  /** The largest number of times in one run. */
  readonly most: number;
  /** The disturbance of that run. */
  readonly disturbance: string;
}

/** Keys that were held for an operator to decide about, as `whenAbandoned` requests. */
export interface HeldRuns {
  /** The runs that ended with a held key. */
  readonly runs: number;
  /** The disturbance of the first of these runs. */
  readonly disturbance: string;
  /**
   * The last errors stored in the held records, from failed `verify` calls and from steps. Each name is listed once, with the simulated
   * time of its first error (epoch ms).
   */
  readonly lastErrors: readonly { readonly name: string; readonly at: number }[];
}

/** Runs that a saga has compensated. Each of its compensations must happen once. */
export interface UndoneRuns {
  readonly runs: number;
  /** The disturbance of the first of these runs. */
  readonly disturbance: string;
}

export interface ExploreReportParts {
  readonly name: string;
  /** The I/O of an undisturbed run, in order. */
  readonly points: readonly Point[];
  /** How often the handler was run from the start. */
  readonly runs: number;
  readonly findings: readonly Finding[];
  readonly accepted: readonly Accepted[];
  readonly held: HeldRuns | undefined;
  readonly undone: UndoneRuns | undefined;
  readonly seed: number;
  /** "answer 201; 1 item in orders": the undisturbed run's response and effects. */
  readonly undisturbed: string;
  /** How many runs `maxRuns` left out. */
  readonly leftOut: number;
  /** "id, createdAt of item orders": values that were not compared, because they differ between undisturbed runs. */
  readonly masked: readonly string[];
  /**
   * Requests of the very first run only, which were not explored: the handler's module remembers their
   * answers.
   */
  readonly firstOnly: readonly string[];
}
