// Ends the output of a test run with one plain line, such as `12 passed, 0 failed`. Adds the counts to the file that
// ONCEONLY_COUNTS names, from which tools/sum-tests.mjs makes one line for several runs.
import { appendFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<SerializedError>): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++;
      // A file that cannot be loaded, or whose hooks fail, is a failure even without a failed test.
      if (module.errors().length > 0) counts.failed++;
    }
    const skipped = counts.skipped + counts.pending;
    const line = `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    process.stdout.write(`\n${line}\n`);
    const file = process.env.ONCEONLY_COUNTS;
    if (file)
      appendFileSync(file, `${JSON.stringify({ passed: counts.passed, failed: counts.failed, skipped })}\n`);
  }
}
