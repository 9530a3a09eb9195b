// `npm run demo`: runs the plan of the options, prints the table and the verdict. Exit status 0 if the promise held,
// 1 if an effect or an answer is off, 2 if the demo could not run, 130 after Ctrl-C.
import { type CommandLine, readOptions, USAGE } from "./options.ts";
import { type Plan, planDemo, planHash } from "./plan.ts";
import { createProgress } from "./progress.ts";
import { formatTable, reportSections } from "./report.ts";
import { runDemo } from "./run-demo.ts";
import type { Stage } from "./stage.ts";
import { findProblems } from "./verdict.ts";
import { formatVerdict } from "./verdict-lines.ts";

const CANNOT_RUN = 2;
const INTERRUPTED = 130;

async function main(): Promise<number> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  let options: CommandLine | "help";
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${USAGE}`);
    return CANNOT_RUN;
  }
  if (options === "help") {
    console.log(USAGE);
    return 0;
  }

  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  }
  try {
    return await playAndJudge(planDemo(options), options, stopping.signal);
  } catch (error) {
    const { aborted, reason } = stopping.signal;
    console.error(messageOf(aborted ? reason : error));
    return aborted ? INTERRUPTED : CANNOT_RUN;
  }
}

async function playAndJudge(plan: Plan, options: CommandLine, signal: AbortSignal): Promise<number> {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Nothing else keeps this process running while a stack starts or stops.
const keepRunning = setInterval(() => undefined, 60_000);
process.exitCode = await main().finally(() => clearInterval(keepRunning));
