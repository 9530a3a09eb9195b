// `npm run demo`: runs the plan of the options, prints the table and the verdict. Exit status 0 if the promise held,
// 1 if an effect or an answer is off; 2 if the demo could not run. Ctrl-C gives 130.
import { runCommand } from "../../command-line.ts";
import { type CommandLine, readOptions, USAGE } from "./options.ts";
import { planDemo, planHash } from "./plan.ts";
import { createProgress } from "./progress.ts";
import { formatTable, reportSections } from "./report.ts";
import { runDemo } from "./run-demo.ts";
import type { Stage } from "./stage.ts";
import { findProblems } from "./verdict.ts";
import { formatVerdict } from "./verdict-lines.ts";

async function playAndJudge(options: CommandLine, signal: AbortSignal): Promise<number> {
  const plan = planDemo(options);
  const startedAtMs = Date.now();
  const secondsSince = () => ((Date.now() - startedAtMs) / 1000).toFixed(1);
  const { orders, duplicates, seed } = options;
  console.log(`plan ${planHash(plan)}: ${orders} orders, ${duplicates} duplicates, seed ${seed}`);
  console.log("starting the sample on local engines …");
  const progress = createProgress(process.stdout);
  const tellStarted = ({ engine, url }: Stage) =>
    console.log(`running on ${engine}, ${url}, after ${secondsSince()} s`);
  const observation = await runDemo({
    plan,
    folder: options.app,
    dynamodbEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
    signal,
    onStarted: tellStarted,
    onProgress: progress.show,
  }).finally(progress.end);

  const problems = findProblems(plan, observation);
  console.log(`\n${formatTable(reportSections(plan, observation))}\n`);
  console.log(formatVerdict(plan, observation, problems));
  console.log(`\nplan ${planHash(plan)}, ${secondsSince()} s`);
  return problems.length === 0 ? 0 : 1;
}

await runCommand({ usage: USAGE, readOptions, run: playAndJudge });
