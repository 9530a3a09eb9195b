// The tests that mutants of lib/core must survive: in one process, in memory, in virtual time. No engine is started.
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";

/** The first test that fails ends the run of a mutant: those that try hundreds of cases come last. */
const SLOW = /(skew|identity|result)\.test\.ts$/;

class QuickestFirst extends BaseSequencer {
  async sort(files) {
    const rank = ({ moduleId }) => Number(SLOW.test(moduleId));
    return files.toSorted(
      (left, right) => rank(left) - rank(right) || left.moduleId.localeCompare(right.moduleId),
    );
  }
}

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: ["test/core/**/*.test.ts"],
    // fingerprint-limits measures time and the end of the stack, which mutants that run side by side share with each
    // other. races takes half of the time of all tests. What it finds has to be found by a test of a single behaviour
    // too.
    exclude: ["test/core/{fingerprint-limits,races}.test.ts"],
    setupFiles: ["packages/proof/mutation/same-cases.mjs"],
    // Stryker itself ends what takes too long, measured by how long it takes without a mutant.
    testTimeout: 600_000,
    // Every mutant starts a worker; a worker for every file of tests as well takes three times as long.
    isolate: false,
    sequence: { sequencer: QuickestFirst },
  },
});
