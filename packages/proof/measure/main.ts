// `npm run bench`: counts and times onceonly against Powertools for AWS Lambda. See USAGE.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startDynamoDB } from "../../local/lib/dynamodb-engine.ts";
import { runCommand } from "../command-line.ts";
import { startProgress } from "../progress.ts";
import { versionsOf } from "../versions.ts";
import { benchmarkCharts, benchmarksDocument, SECTION_NAMES, sectionPage } from "./report/document.ts";
import type { Results, SectionName } from "./report/results.ts";
import { SECTIONS } from "./sections.ts";

const USAGE = `npm run bench -- [sections] [--quick]

  sections  ${SECTION_NAMES.join(", ")}; all of them unless given
  --quick   a few calls, one run: prints what it finds and writes nothing

Without --quick what is found goes into packages/proof/measure/results.json, and docs/proof/benchmarks.md with its charts is made of that.`;

const RESULTS = new URL("results.json", import.meta.url);
const DOCUMENT = new URL("../../../docs/proof/benchmarks.md", import.meta.url);
const CHARTS = new URL("../../../docs/proof/benchmarks/", import.meta.url);

interface Options {
  readonly names: readonly SectionName[];
  readonly quick: boolean;
}

function readOptions(args: readonly string[]): Options | "help" {
  const options = { quick: { type: "boolean", default: false }, help: { type: "boolean" } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return "help";
  const unknown = positionals.find((name) => !SECTION_NAMES.includes(name as SectionName));
  if (unknown !== undefined) throw new Error(`there is no section "${unknown}"`);
  return {
    names: positionals.length > 0 ? (positionals as SectionName[]) : SECTION_NAMES,
    quick: values.quick,
  };
}

async function run({ names, quick }: Options, interrupted: AbortSignal): Promise<number> {
  // The results are written, and the engine ends with this process.
  interrupted.addEventListener("abort", () => process.exit(130));
  const engine = await startDynamoDB({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
  const progress = startProgress(names.reduce((sum, name) => sum + SECTIONS[name].steps(quick), 0));
  const versions = versionsOf(engine);
  try {
    for (const name of names) {
      const figures = await SECTIONS[name].measure(engine.endpoint, quick, () => progress.step(name));
      if (quick) console.log(sectionPage(name, figures as never));
      else write({ ...readResults(), [name]: { versions, figures } });
    }
  } finally {
    progress.end();
    await engine.stop();
  }
  if (!quick)
    console.log("written to packages/proof/measure/results.json, docs/proof/benchmarks.md and its charts");
  return 0;
}

function readResults(): Results {
  try {
    return JSON.parse(readFileSync(RESULTS, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** After each section, so a later failure doesn't lose the results so far. */
function write(results: Results): void {
  // Numbers that stand in one row stay in one line.
  const text = JSON.stringify(results, undefined, 1).replaceAll(
    /\[\s+([^[\]{}]*?)\s+\]/g,
    (_, list: string) => `[${list.replaceAll(/\s+/g, " ")}]`,
  );
  writeFileSync(RESULTS, `${text}\n`);
  writeFileSync(DOCUMENT, benchmarksDocument(results));
  mkdirSync(CHARTS, { recursive: true });
  for (const [file, svg] of Object.entries(benchmarkCharts(results)))
    writeFileSync(new URL(file, CHARTS), svg);
}

await runCommand({ usage: USAGE, readOptions, run });
// Clients of contestants that ran here may still hold connections.
process.exit();
