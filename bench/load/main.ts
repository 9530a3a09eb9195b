// `npm run load`: sends the requests of the options, prints what came of them and each threshold. Exit status 0 if all
// thresholds hold, 1 if one is broken, 2 if the load could not run, 130 after Ctrl-C.
import { startProgress } from "../progress.ts";
import { answerThresholds } from "./answer-thresholds.ts";
import { effectThresholds } from "./effect-thresholds.ts";
import { loopbackOrigin } from "./loopback.ts";
import { type LoadOptions, readOptions, USAGE } from "./options.ts";
import { planLoad } from "./plan-load.ts";
import { formatInformation, formatThresholds } from "./report.ts";
import { runLoad, stepsOf } from "./run-load.ts";
import type { Service } from "./service.ts";
import { isBroken } from "./threshold.ts";

const CANNOT_RUN = 2;
const INTERRUPTED = 130;

async function main(): Promise<number> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  let options: LoadOptions | "help";
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
    return await loadAndJudge(options, stopping.signal);
  } catch (error) {
    const { aborted, reason } = stopping.signal;
    console.error(messageOf(aborted ? reason : error));
    return aborted ? INTERRUPTED : CANNOT_RUN;
  }
}

async function loadAndJudge(options: LoadOptions, signal: AbortSignal): Promise<number> {
  const plan = planLoad(options);
  const { target, seed, connections } = options;
  const { orders, asks } = plan;
  console.log(
    `${asks.length} requests for ${orders.length} orders over ${connections} connections, seed ${seed}`,
  );
  if (target.kind === "own") console.log("starting the sample on local engines …");
  const progress = startProgress(stepsOf(plan));
  const observed = await runLoad({
    plan,
    options,
    dynamodbEndpoint: endpointGiven(),
    signal,
    onStarted: ({ url, description }: Service) => console.log(`loading ${description}, ${url}`),
    progress,
  }).finally(() => progress.end());

  const thresholds = [
    ...answerThresholds(observed, { hasFaults: target.kind === "own" && target.faults }),
    ...effectThresholds(plan, observed.effects),
  ];
  console.log(`\n${formatInformation(observed)}\n\n${formatThresholds(thresholds)}`);
  return thresholds.some(isBroken) ? 1 : 0;
}

function endpointGiven(): string | undefined {
  const { AWS_ENDPOINT_URL_DYNAMODB: given } = process.env;
  return given ? loopbackOrigin("AWS_ENDPOINT_URL_DYNAMODB", given) : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Nothing else keeps this process running while a stack starts or stops.
const keepRunning = setInterval(() => undefined, 60_000);
process.exitCode = await main().finally(() => clearInterval(keepRunning));
