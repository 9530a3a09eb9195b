/** The explorer's report: numbers, findings, and the text that a person reads. */
import type { Finding, Point } from "./finding.ts";
import { reportText } from "./report-text.ts";

/** An effect that can be repeated, by what was accepted with `atLeastOnce`. */
export interface Accepted {
  /** "POST https://gateway.example.com/charges" */
  readonly call: string;
  /** How often it was made in one run, at most. */
  readonly most: number;
  /** Under which disturbance that was. */
  readonly disturbance: string;
}

export interface ExploreReportParts {
  readonly name: string;
  readonly points: readonly Point[];
  readonly runs: number;
  readonly findings: readonly Finding[];
  readonly accepted: readonly Accepted[];
  readonly seed: number;
  /** How many runs `maxRuns` left out. */
  readonly leftOut: number;
  /** "id, createdAt of item orders": values that were not compared, as undisturbed runs differ in them. */
  readonly masked: readonly string[];
  /** Requests that only the very first run made, and that were not explored: the handler's module remembers. */
  readonly firstOnly: readonly string[];
}

/** What came of an exploration. `String(report)` says it in words. */
export class ExploreReport implements ExploreReportParts {
  readonly name: string;
  /** The I/O of an undisturbed run, in order. */
  readonly points: readonly Point[];
  /** How often the handler was run from the start. */
  readonly runs: number;
  readonly findings: readonly Finding[];
  readonly accepted: readonly Accepted[];
  readonly seed: number;
  readonly leftOut: number;
  readonly masked: readonly string[];
  readonly firstOnly: readonly string[];

  /** @internal */
  constructor(parts: ExploreReportParts) {
    this.name = parts.name;
    this.points = parts.points;
    this.runs = parts.runs;
    this.findings = parts.findings;
    this.accepted = parts.accepted;
    this.seed = parts.seed;
    this.leftOut = parts.leftOut;
    this.masked = parts.masked;
    this.firstOnly = parts.firstOnly;
  }

  /** Whether nothing was found. */
  get ok(): boolean {
    return this.findings.length === 0;
  }

  toString(): string {
    return reportText(this);
  }
}
