/** The explorer's report: numbers, findings, and the text for people. */
import type { ExploreReportParts } from "./report-parts.ts";
import { reportText } from "./report-text.ts";

/** TypeScript doesn't give a class the fields of an interface, so they come from this base. */
const Fields = class {
  constructor(parts: ExploreReportParts) {
    Object.assign(this, parts);
  }
} as new (
  parts: ExploreReportParts,
) => ExploreReportParts;

/** The result of an exploration. `String(report)` is its text. */
export class ExploreReport extends Fields {
  /** Whether there are no findings. */
  get ok(): boolean {
    return this.findings.length === 0;
  }

  override toString(): string {
    return reportText(this);
  }
}
