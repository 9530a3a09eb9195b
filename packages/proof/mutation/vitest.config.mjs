// The tests that have to notice a mutant: in one process, in memory, in virtual time. They start no engine.
import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import { unitTests } from "../../../test/setup/tier.ts";
import { plugins, resolve } from "../../../vitest.config.ts";

const folder = process.env.ONCEONLY_MUTATED ?? "core";

/** The first failing test ends the run of a mutant: tests of the mutated files come first, those that try hundreds of cases last. */
const mutated = (process.env.ONCEONLY_MUTATED_FILES ?? "").split(",").map((path) => basename(path, ".ts"));
const SLOW = /(skew|identity|result|hostile-values|group-order|resend|plays)\.test\.ts$/;

class QuickestFirst extends BaseSequencer {
  async sort(files) {
    const rank = ({ moduleId }) =>
      mutated.includes(basename(moduleId, ".test.ts")) ? 0 : SLOW.test(moduleId) ? 2 : 1;
    return files.toSorted(
      (left, right) => rank(left) - rank(right) || left.moduleId.localeCompare(right.moduleId),
    );
  }
}

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  plugins,
  resolve,
  test: {
    include: unitTests().filter((file) => file.startsWith(`test/${folder}/`)),
    setupFiles: ["packages/proof/mutation/same-cases.mjs"],
    // A test takes milliseconds, so this ends one that waits for something that the mutant removed.
    testTimeout: 10_000,
    // Each mutant starts a worker; one for each test file as well would triple the time.
    isolate: false,
    sequence: { sequencer: QuickestFirst },
  },
});
