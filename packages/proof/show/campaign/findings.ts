// The violations of a run by kind, and of each kind the one with the shortest trace.
import type { Kind, Violation } from "./judge/violation.ts";
import { describeViolation, traceOf } from "./trace.ts";

export interface Finding {
  readonly kind: Kind;
  readonly count: number;
  readonly example: string;
  readonly trace: readonly string[];
}

export interface Findings {
  /** @returns whether it is the first of its kind */
  add(violation: Violation): boolean;
  readonly count: number;
  readonly all: readonly Finding[];
}

export function createFindings(): Findings {
  const found = new Map<Kind, Finding>();
  return {
    add(violation) {
      const former = found.get(violation.kind);
      const trace = violation.subject ? traceOf(violation.subject) : [];
      const isShorter = !former || trace.length < former.trace.length;
      const best = isShorter ? { example: describeViolation(violation), trace } : former;
      found.set(violation.kind, { ...best, kind: violation.kind, count: (former?.count ?? 0) + 1 });
      return former === undefined;
    },
    get count() {
      return [...found.values()].reduce((sum, { count }) => sum + count, 0);
    },
    get all() {
      return [...found.values()];
    },
  };
}
