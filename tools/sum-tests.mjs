// Prints one line for several runs of tests: `node tools/sum-tests.mjs <file>`, the file that ONCEONLY_COUNTS named during the runs.
import { readFileSync } from "node:fs";

const sum = { passed: 0, failed: 0, skipped: 0 };
for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)) {
  for (const [name, count] of Object.entries(JSON.parse(line))) sum[name] += count;
}
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : "";
console.log(`\n${sum.passed} passed, ${sum.failed} failed${skipped}`);
