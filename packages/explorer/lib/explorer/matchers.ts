/** `expect(report).toBeExactlyOnce()`, for vitest and jest: `expect.extend(exactlyOnceMatchers)`. */
import type { ExploreReport } from "./report.ts";
import { firstText, headline } from "./report-text.ts";

/** The form of `expect.extend` in vitest and jest. */
export const exactlyOnceMatchers = {
  /** Passes without findings; otherwise the message shows the first finding and counts the others. */
  toBeExactlyOnce(received: unknown): { readonly pass: boolean; readonly message: () => string } {
    if (!isReport(received)) {
      return {
        pass: false,
        message: () =>
          `toBeExactlyOnce needs the report of explore() (got ${typeof received}): is an await missing?`,
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
  /** Passes when the report of `explore()` holds no finding. */
  toBeExactlyOnce(): R;
}

declare global {
  // vitest's assertions and @types/jest extend this interface, and neither need be installed.
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: all declarations must have the same parameters.
    interface Matchers<R, T = {}> extends ExactlyOnceAssertion<R> {}
  }
}
