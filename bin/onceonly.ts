#!/usr/bin/env node
// The command line that the package ships.
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { type RunningStack, type StartStackOptions, startStack } from "../lib/local/index.ts";

const USAGE = `usage: onceonly start [folder] [options]

Synthesizes the CDK app of the folder (this one by default) and runs its template on local engines.

  --port <number>             port of the first API, 0 for any free one (default 3000)
  --context, -c <key=value>   CDK context, may be repeated (default ephemeral=true)
  --stack <name>              a stack or stage to run, may be repeated (default all)
  --parameter <name=value>    value of a template parameter, may be repeated
  --quiet                     print neither requests nor the logs of functions
  --version, -v               print the version of onceonly
  --help, -h                  print this text

AWS_ENDPOINT_URL_DYNAMODB, if set, is the DynamoDB of the run: then onceonly starts no engine.`;

const DEFAULT_PORT = "3000";

/** The command is wrong: the exit status is 2. */
class UsageError extends Error {}

async function main(): Promise<void> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const { values, positionals } = readCommand();
  if (values.help) return console.log(USAGE);
  if (values.version) return console.log(packageVersion());
  const [command, folder = ".", ...more] = positionals;
  if (command === undefined) throw new UsageError(USAGE);
  if (command !== "start") throw new UsageError(`unknown command "${command}"\n\n${USAGE}`);
  if (more.length > 0) throw new UsageError(`start takes one folder, got ${more.length + 1}`);

  // A stack without an API keeps no process running, and neither does one that stops.
  const keepRunning = setInterval(() => undefined, 60_000);
  try {
    await runUntilStopped({
      folder,
      port: portOf(values.port),
      context: pairsOf(values.context, "--context"),
      stacks: values.stack,
      parameters: pairsOf(values.parameter, "--parameter"),
      dynamodbEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
      log: values.quiet ? undefined : printLine,
    });
  } finally {
    clearInterval(keepRunning);
  }
}

/** Lines of metrics are for CloudWatch. */
function printLine(line: string): void {
  if (!/^\[[^\]]+\] \{"_aws":/.test(line)) console.log(line);
}

function readCommand() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        port: { type: "string", default: DEFAULT_PORT },
        context: { type: "string", short: "c", multiple: true, default: ["ephemeral=true"] },
        stack: { type: "string", multiple: true, default: [] },
        parameter: { type: "string", multiple: true, default: [] },
        quiet: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", short: "v", default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function packageVersion(): string {
  return createRequire(import.meta.url)("onceonly/package.json").version;
}

async function runUntilStopped(options: StartStackOptions): Promise<void> {
  const stopping = new AbortController();
  const stopRequested = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        stopping.abort(new Error(`stopped by ${signal}`));
        resolve();
      });
    }
  });
  console.log(`synthesizing ${options.folder === "." ? "this folder" : options.folder} …`);
  const startedAtMs = Date.now();
  const stack = await startStack({ ...options, signal: stopping.signal });
  print(stack, Date.now() - startedAtMs);
  await stopRequested;
  await stack.stop();
  console.log("stopped");
}

function print(stack: RunningStack, tookMs: number): void {
  console.log(`\nrunning after ${(tookMs / 1000).toFixed(1)} s; Ctrl-C stops everything\n`);
  for (const api of stack.apis) {
    console.log(`${api.path}  ${api.url}`);
    for (const route of api.routes) console.log(`  ${route}`);
  }
  for (const [path, url] of Object.entries(stack.functionUrls)) console.log(`${path}  ${url}`);
  for (const [path, { name }] of Object.entries(stack.tables)) console.log(`table ${path}  ${name}`);
  for (const [path, { url }] of Object.entries(stack.queues)) console.log(`queue ${path}  ${url}`);
  for (const [path, { arn }] of Object.entries(stack.topics)) console.log(`topic ${path}  ${arn}`);
  console.log(`DynamoDB  ${stack.endpoints.dynamodb}`);
  console.log(`AWS (Lambda, SNS, EventBridge)  ${stack.endpoints.aws}`);
  for (const [name, value] of Object.entries(stack.outputs)) console.log(`\n${name}:\n  ${value}`);
  for (const line of stack.notRun) console.log(`\nnot run here: ${line}`);
  console.log("");
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new UsageError(`--port must be a number from 0 to 65535, got ${text}`);
}

function pairsOf(pairs: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new UsageError(`${option} takes name=value, got ${pair}`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
