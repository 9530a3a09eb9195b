// Plays the plan of the options, and prints the result.
import { writeFile } from "node:fs/promises";
import { formatContrast } from "./contrast.ts";
import { lookOn, PLAIN } from "./look.ts";
import type { CommandLine } from "./options.ts";
import { demoPage, recordingProgress } from "./page.ts";
import { planDemo, planHash } from "./plan.ts";
import { createProgress } from "./progress.ts";
import { reportSections } from "./report.ts";
import { type Observations, runDemo } from "./run-demo.ts";
import { formatTable } from "./table.ts";
import { findProblems } from "./verdict.ts";
import { formatVerdict } from "./verdict-lines.ts";

/** @returns the exit status, which the run without onceonly does not change */
export async function playAndJudge(options: CommandLine, signal: AbortSignal): Promise<number> {
  const plan = planDemo(options);
  const startedAtMs = Date.now();
  const { samples, progress } = recordingProgress(createProgress(process.stdout), Date.now);
  const { onceonly, without } = await runDemo({
    plan,
    columns: columnsOf(options),
    folder: options.app,
    dynamodbEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
    signal,
    progress,
  }).finally(progress.end);

  const look = lookOn(process.stdout, process.env);
  const sections = {
    onceonly: onceonly && reportSections(plan, onceonly),
    without: without && reportSections(plan, without),
  };
  console.log(`\n${formatTable(sections, look)}\n`);
  if (without) console.log(`${formatContrast(plan, without, look)}\n`);
  const problems = onceonly ? findProblems(plan, onceonly) : [];
  if (onceonly) console.log(`${formatVerdict(plan, onceonly, problems, look)}\n`);
  if (options.html !== undefined) {
    const texts = [
      formatTable(sections),
      ...(without ? [formatContrast(plan, without, PLAIN)] : []),
      ...(onceonly ? [formatVerdict(plan, onceonly, problems)] : []),
    ];
    const heading = `${options.orders} orders, ${options.duplicates} duplicates, seed ${options.seed}`;
    await writeFile(options.html, demoPage({ heading, samples, texts }));
    console.log(`written to ${options.html}`);
  }
  console.log(`plan ${planHash(plan)}, ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`);
  return problems.length === 0 ? 0 : 1;
}

function columnsOf({ without, app }: CommandLine): (keyof Observations)[] {
  if (without) return ["without"];
  return app === undefined ? ["onceonly", "without"] : ["onceonly"];
}
