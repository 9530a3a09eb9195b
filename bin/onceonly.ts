// The command line. `onceonly start [folder]` runs the CDK app of a folder on this machine until Ctrl-C.
import { parseArgs } from "node:util";
import { type RunningStack, type StartStackOptions, startStack } from "../lib/local/index.ts";

const USAGE = `usage: onceonly start [folder] [options]

Synthesizes the CDK app of the folder (this one by default) and runs its template on local engines.

  --port <number>             port of the HTTP API, 0 for any free one (default 3000)
  --context, -c <key=value>   CDK context, may be repeated (default ephemeral=true)
  --parameter <name=value>    value of a template parameter, may be repeated
  --quiet                     print neither requests nor what functions log

AWS_ENDPOINT_URL_DYNAMODB, if set, is used instead of an engine of its own.`;

const DEFAULT_PORT = "3000";

async function main(): Promise<void> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      port: { type: "string", default: DEFAULT_PORT },
      context: { type: "string", short: "c", multiple: true, default: ["ephemeral=true"] },
      parameter: { type: "string", multiple: true, default: [] },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [command, folder = "."] = positionals;
  if (values.help || command !== "start") {
    console.log(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }

  // Nothing else keeps this process running while a stack without an API runs, or while one is stopped.
  const keepRunning = setInterval(() => undefined, 60_000);
  try {
    await runUntilStopped({
      folder,
      port: portOf(values.port),
      context: pairsOf(values.context, "--context"),
      parameters: pairsOf(values.parameter, "--parameter"),
      dynamodbEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
      log: values.quiet ? undefined : console.log,
    });
  } finally {
    clearInterval(keepRunning);
  }
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
  for (const [path, { name }] of Object.entries(stack.tables)) console.log(`table ${path}  ${name}`);
  for (const [path, { url }] of Object.entries(stack.queues)) console.log(`queue ${path}  ${url}`);
  console.log(`DynamoDB  ${stack.endpoints.dynamodb}`);
  for (const [name, value] of Object.entries(stack.outputs)) console.log(`\n${name}:\n  ${value}`);
  for (const line of stack.notRun) console.log(`\nnot run here: ${line}`);
  console.log("");
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Error(`--port must be a number from 0 to 65535, got ${text}`);
}

function pairsOf(pairs: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new Error(`${option} takes name=value, got ${pair}`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
