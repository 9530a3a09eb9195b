/** The explorer's report: numbers, findings, and the text for people. */
import type { Finding, Point } from "./finding.ts";
import type { Accepted, ExploreReportParts, HeldRuns, UndoneRuns } from "./report-parts.ts";
import { reportText } from "./report-text.ts";

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
