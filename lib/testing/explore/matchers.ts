/** `expect(report).toBeExactlyOnce()`, for vitest and jest: `expect.extend(exactlyOnceMatchers)`. */
import type { ExploreReport } from "./report.ts";
import { headline, reportText } from "./report-text.ts";

/** What `expect.extend` of vitest and of jest takes. */
export const exactlyOnceMatchers = {
  /** Passes where the explorer found nothing; else says what it found first, and how much more. */
  toBeExactlyOnce(received: unknown): { readonly pass: boolean; readonly message: () => string } {
    if (!isReport(received)) {
      return {
        pass: false,
        message: () =>
          `toBeExactlyOnce takes the report of explore(), got ${typeof received}: await it first`,
      };
    }
    return {
      pass: received.ok,
      message: () => (received.ok ? `expected findings, but ${headline(received)}` : firstOf(received)),
    };
  },
};

/** The whole first finding, and how many more there are. */
function firstOf(report: ExploreReport): string {
  const { findings } = report;
  const text = reportText({ ...partsOf(report), findings: findings.slice(0, 1) });
  const [, ...rest] = text.split("\n");
  const more = findings.length - 1;
  const ending = more > 0 ? [`\nand ${more} more: String(report) lists them`] : [];
  return [headline(report), ...rest, ...ending].join("\n");
}

function partsOf({ name, points, runs, accepted, seed, leftOut }: ExploreReport) {
  return { name, points, runs, accepted, seed, leftOut };
}

function isReport(received: unknown): received is ExploreReport {
  return typeof received === "object" && received !== null && "findings" in received && "points" in received;
}

interface ExactlyOnceAssertion<R> {
  /** Passes where the report of `explore()` holds no finding. */
  toBeExactlyOnce(): R;
}

declare global {
  // vitest's assertions and @types/jest both extend this one, and neither need be installed.
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: all declarations must have the same parameters.
    interface Matchers<R, T = {}> extends ExactlyOnceAssertion<R> {}
  }
}
