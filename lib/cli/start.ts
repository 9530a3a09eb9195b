/** `onceonly start`: runs a synthesized stack on local engines until Ctrl-C. */
import { type RunningStack, type StartStackOptions, startStack } from "../local/index.ts";
import { type CliCommand, type OptionValues, UsageError } from "./command.ts";

const DEFAULT_PORT = "3000";

export const start: CliCommand = {
  usage: `usage: onceonly start [folder] [options]

Synthesizes the CDK app of the folder (this one by default) and runs its templates on local engines. The folder may
also have a template of SAM or CloudFormation, or be one.

  --port <number>             port of the first API, 0 for any free one (default 3000)
  --context, -c <key=value>   CDK context, may be repeated (default ephemeral=true)
  --stack <name>              a stack or stage to run, may be repeated (default all)
  --parameter <name=value>    value of a template parameter, may be repeated
  --quiet                     print neither requests nor the logs of functions

AWS_ENDPOINT_URL_DYNAMODB, if set, is the DynamoDB of the run: then onceonly starts no engine.`,
  options: {
    port: { type: "string", default: DEFAULT_PORT },
    context: { type: "string", short: "c", multiple: true, default: ["ephemeral=true"] },
    stack: { type: "string", multiple: true, default: [] },
    parameter: { type: "string", multiple: true, default: [] },
    quiet: { type: "boolean", default: false },
  },
  async run({ values, positionals, terminal }) {
    const [folder = ".", ...more] = positionals;
    if (more.length > 0) throw new UsageError(`start takes one folder, got ${more.length + 1}`);
    // A stack without an API keeps no process running, and neither does one that stops.
    const keepRunning = setInterval(() => undefined, 60_000);
    try {
      await runUntilStopped({
        folder,
        port: portOf(`${values.port}`),
        context: pairsOf(values.context, "--context"),
        stacks: listOf(values.stack),
        parameters: pairsOf(values.parameter, "--parameter"),
        dynamodbEndpoint: terminal.env.AWS_ENDPOINT_URL_DYNAMODB,
        log: values.quiet ? undefined : printLine,
      });
    } finally {
      clearInterval(keepRunning);
    }
    return 0;
  },
};

const listOf = (value: OptionValues[string]): readonly string[] => (Array.isArray(value) ? value : []);

/** Lines of metrics are for CloudWatch. */
function printLine(line: string): void {
  if (!/^\[[^\]]+\] \{"_aws":/.test(line)) console.log(line);
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

function pairsOf(pairs: OptionValues[string], option: string): Record<string, string> {
  return Object.fromEntries(
    listOf(pairs).map((pair) => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new UsageError(`${option} takes name=value, got ${pair}`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}
