/** The explorer's report: numbers, findings, and the text for people. */
import type { Finding, Point } from "./finding.ts";
import { reportText } from "./report-text.ts";

/** An effect that happened more than once, and that `atLeastOnce` accepts. */
export interface Accepted {
  /** "POST https://gateway.example.com/charges" */
  readonly call: string;
  /** The largest number of times in one run. */
  readonly most: number;
  /** The disturbance of that run. */
  readonly disturbance: string;
}

/** Keys that were held for somebody to decide about, as `whenAbandoned` asks for. */
export interface HeldRuns {
  /** The runs that ended with a held key. */
  readonly runs: number;
  /** The disturbance of the first of these runs. */
  readonly disturbance: string;
  /**
   * The last errors that the held records keep: of questions that failed, and of steps. Each name is there once, with the simulated
   * time of its first error (epoch ms).
   */
  readonly lastErrors: readonly { readonly name: string; readonly at: number }[];
}

/** Runs that a saga has turned back and undone. Each of its compensations has to happen once. */
export interface UndoneRuns {
  readonly runs: number;
  /** The disturbance of the first of these runs. */
  readonly disturbance: string;
}

export interface ExploreReportParts {
  readonly name: string;
  readonly points: readonly Point[];
  readonly runs: number;
  readonly findings: readonly Finding[];
  readonly accepted: readonly Accepted[];
  readonly held: HeldRuns | undefined;
  readonly undone: UndoneRuns | undefined;
  readonly seed: number;
  /** "answer 201; 1 item in orders": what the undisturbed run answered, and its effects. */
  readonly undisturbed: string;
  /** How many runs `maxRuns` left out. */
  readonly leftOut: number;
  /**
   * "id, createdAt of item orders": values that were not compared, because undisturbed runs differ in them.
   */
  readonly masked: readonly string[];
  /**
   * Requests of the very first run only, which were not explored: the handler's module remembers their
   * answers.
   */
  readonly firstOnly: readonly string[];
}

/** The result of an exploration. `String(report)` is its text. */
export class ExploreReport implements ExploreReportParts {
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
  readonly undisturbed: string;
  readonly leftOut: number;
  readonly masked: readonly string[];
  readonly firstOnly: readonly string[];

  /** `explore` makes the reports. */
  constructor(parts: ExploreReportParts) {
    this.name = parts.name;
    this.points = parts.points;
    this.runs = parts.runs;
    this.findings = parts.findings;
    this.accepted = parts.accepted;
    this.held = parts.held;
    this.undone = parts.undone;
    this.seed = parts.seed;
    this.undisturbed = parts.undisturbed;
    this.leftOut = parts.leftOut;
    this.masked = parts.masked;
    this.firstOnly = parts.firstOnly;
  }

  /** Whether there is no finding. */
  get ok(): boolean {
    return this.findings.length === 0;
  }

  toString(): string {
    return reportText(this);
  }
}
