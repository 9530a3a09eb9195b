// `npm run bench`: counts and times onceonly beside Powertools for AWS Lambda on one engine in one run, prints the result
// and writes it into docs/benchmarks.md. `npm run bench -- --only batch` renews that section alone; the others are
// `capacity`, `hot-key`, `bundle` and `timings`.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startDynamoDB } from "../lib/local/dynamodb-engine.ts";
import { startProgress } from "./progress.ts";
import { benchmarksDocument } from "./report/document.ts";
import { replaceSection } from "./report/markdown.ts";
import { SECTIONS } from "./sections.ts";
import { versionsOf } from "./versions.ts";

const DOCUMENT = new URL("../docs/benchmarks.md", import.meta.url);

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";

const { only } = parseArgs({ options: { only: { type: "string" } } }).values;
const chosen = Object.entries(SECTIONS).filter(([name]) => only === undefined || name === only);
if (chosen.length === 0)
  throw new Error(`--only takes one of ${Object.keys(SECTIONS).join(", ")}; got ${JSON.stringify(only)}`);

const engine = await startDynamoDB({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
const progress = startProgress(chosen.reduce((sum, [, { steps }]) => sum + steps, 0));
const sections: string[] = [];
try {
  for (const [, section] of chosen) sections.push(await section.write(engine.endpoint, progress.step));
} finally {
  progress.end();
  await engine.stop();
}
const text =
  only === undefined
    ? benchmarksDocument(versionsOf(engine), sections)
    : sections.reduce(replaceSection, readFileSync(DOCUMENT, "utf8"));
writeFileSync(DOCUMENT, text);
console.log(`${text}\nwritten to docs/benchmarks.md`);
