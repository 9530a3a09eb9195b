// `npm run bench`: counts and times onceonly against Powertools for AWS Lambda. See USAGE.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type DynamoDBEngine, startDynamoDB } from "../../local/lib/dynamodb-engine.ts";
import { runCommand } from "../command-line.ts";
import { startProgress } from "../progress.ts";
import { versionsOf } from "../versions.ts";
import { codeVersions } from "./code-version.ts";
import type { Effort } from "./effort.ts";
import { busyShare, refuseBusy } from "./quiet.ts";
import { agesText } from "./report/age.ts";
import { benchmarkCharts, benchmarksDocument, SECTION_NAMES, sectionPage } from "./report/document.ts";
import type { Results, SectionName } from "./report/results.ts";
import { SECTIONS, SHORT_SECTIONS } from "./sections.ts";

const USAGE = `npm run bench -- [sections] [--short | --quick | --ages]

  sections  ${SECTION_NAMES.join(", ")}; all of them unless given
  --short   ${SHORT_SECTIONS.join(", ")}, with fewer runs: at most 12 minutes
  --quick   a few calls, one run: prints what it finds and writes nothing
  --ages    only says how old each section's figures are, and which are older than the code

What is found goes into packages/proof/measure/results.json, and docs/proof/benchmarks.md with its charts is made of that.
Sections that measure time refuse to run while other work keeps the machine busy; --quick runs them anyway.`;

const RESULTS = new URL("results.json", import.meta.url);
const DOCUMENT = new URL("../../../docs/proof/benchmarks.md", import.meta.url);
const CHARTS = new URL("../../../docs/proof/benchmarks/", import.meta.url);

interface Options {
  readonly names: readonly SectionName[];
  readonly effort: Effort;
  readonly onlyAges: boolean;
}

function readOptions(args: readonly string[]): Options | "help" {
  const flag = { type: "boolean", default: false } as const;
  const options = { short: flag, quick: flag, ages: flag, help: flag };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return "help";
  const unknown = positionals.find((name) => !SECTION_NAMES.includes(name as SectionName));
  if (unknown !== undefined) throw new Error(`there is no section "${unknown}"`);
  const all = values.short ? SHORT_SECTIONS : SECTION_NAMES;
  return {
    names: positionals.length > 0 ? (positionals as SectionName[]) : all,
    effort: values.quick ? "quick" : values.short ? "short" : "full",
    onlyAges: values.ages,
  };
}

async function run({ names, effort, onlyAges }: Options, interrupted: AbortSignal): Promise<number> {
  // The results are written, and the engine ends with this process.
  interrupted.addEventListener("abort", () => process.exit(130));
  const codes = await codeVersions();
  console.log(agesText(names, readResults(), codes, Date.now()));
  if (onlyAges) return 0;
  let engine: DynamoDBEngine | undefined;
  const progress = startProgress(names.reduce((sum, name) => sum + SECTIONS[name].steps(effort), 0));
  try {
    for (const name of names) {
      const { measure, needs } = SECTIONS[name];
      const isTimed = needs.includes("quiet");
      if (needs.includes("engine"))
        engine ??= await startDynamoDB({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
      const share = isTimed && effort !== "quick" ? await busyShare() : undefined;
      if (share !== undefined) refuseBusy(name, share);
      const figures = await measure(engine?.endpoint ?? "", effort, () => progress.step(name));
      if (effort === "quick") console.log(sectionPage(name, figures as never));
      else {
        const measured = {
          versions: versionsOf(needs.includes("engine") ? engine : undefined),
          day: new Date().toISOString().slice(0, 10),
          code: codes[name],
          ...(share !== undefined && { busyShare: Number(share.toFixed(2)) }),
          figures,
        };
        write({ ...readResults(), [name]: measured }, codes);
      }
    }
  } finally {
    progress.end();
    await engine?.stop();
  }
  if (effort !== "quick")
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
function write(results: Results, codes: Awaited<ReturnType<typeof codeVersions>>): void {
  // Numbers that stand in one row stay in one line.
  const text = JSON.stringify(results, undefined, 1).replaceAll(
    /\[\s+([^[\]{}]*?)\s+\]/g,
    (_, list: string) => `[${list.replaceAll(/\s+/g, " ")}]`,
  );
  writeFileSync(RESULTS, `${text}\n`);
  writeFileSync(DOCUMENT, benchmarksDocument(results, codes));
  mkdirSync(CHARTS, { recursive: true });
  for (const [file, svg] of Object.entries(benchmarkCharts(results)))
    writeFileSync(new URL(file, CHARTS), svg);
}

await runCommand({ usage: USAGE, readOptions, run });
// Clients of contestants that ran here may still hold connections.
process.exit();
