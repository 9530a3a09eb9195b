// `npm run load`: sends the requests of the options, prints their results and each threshold. Exit status 0 if all
// thresholds hold, 1 if one is broken, 2 if the load could not run, 130 after Ctrl-C.
import { runCommand } from "../../command-line.ts";
import { startProgress } from "../../progress.ts";
import { answerThresholds } from "./answer-thresholds.ts";
import { effectThresholds } from "./effect-thresholds.ts";
import { loopbackOrigin } from "./loopback.ts";
import { type LoadOptions, readOptions, USAGE } from "./options.ts";
import { planLoad } from "./plan-load.ts";
import { formatInformation, formatThresholds } from "./report.ts";
import { runLoad, stepsOf } from "./run-load.ts";
import type { Service } from "./service.ts";
import { isBroken } from "./threshold.ts";

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

await runCommand({ usage: USAGE, readOptions, run: loadAndJudge });
