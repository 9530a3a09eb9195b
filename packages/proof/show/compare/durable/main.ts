// `npm run compare:durable`: measures the durable functions again, and writes their section of docs/proof/comparison.md.
import { readFileSync, writeFileSync } from "node:fs";
import { measureDurable } from "./measure.ts";
import { durableSection, HEADING } from "./section.ts";

const RESULTS = new URL("results.json", import.meta.url);
const DOCUMENT = new URL("../../../../../docs/proof/comparison.md", import.meta.url);

// Error messages about provoked faults.
console.warn = () => {};
console.error = () => {};
const results = await measureDurable({ progress: (words) => console.log(words) });
writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
const [before, rest] = readFileSync(DOCUMENT, "utf8").split(`${HEADING}\n`);
const after = rest?.slice(rest.indexOf("\n## ") + 1);
writeFileSync(DOCUMENT, `${before}${durableSection(results)}\n${after}`);
process.exit();
