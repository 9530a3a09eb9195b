/** `expect(report).toBeExactlyOnce()`, for vitest and jest: `expect.extend(exactlyOnceMatchers)`. */
import type { ExploreReport } from "./report.ts";
import { firstText, headline } from "./report-text.ts";

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
      message: () => (received.ok ? `expected findings, but ${headline(received)}` : firstText(received)),
    };
  },
};

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
