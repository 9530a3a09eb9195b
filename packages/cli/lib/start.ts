/** `onceonly start`: runs a synthesized stack on local engines until Ctrl-C. */
import { basename, resolve } from "node:path";
import type { RunningStack, StartStackOptions } from "onceonly-local";
import { aligned } from "./aligned.ts";
import {
  type CliCommand,
  listOf,
  type OptionValues,
  printLines,
  type Terminal,
  UsageError,
} from "./command.ts";
import { createBreakage } from "./console/breakage.ts";
import { startConsole } from "./console/console-server.ts";
import { decisionFeed } from "./console/decision-feed.ts";
import { checkFree } from "./console/listen.ts";
import { stackSource } from "./console/stack-source.ts";
import { loadTool } from "./installed.ts";
import { portOf } from "./port.ts";
import { untilStopped } from "./until-stopped.ts";

const DEFAULT_PORT = "3000";

export const start: CliCommand = {
  usage: `usage: onceonly start [folder] [options]

Runs an app on local engines: the CDK app in the folder (default: this one; it's synthesized first), a cdk.out, or a SAM or
CloudFormation template. Code changes are picked up while it runs. Terraform isn't supported.

  --port <number>             port of the first API, 0 for any free port (default 3000)
  --context, -c <key=value>   CDK context, may be repeated (default ephemeral=true)
  --stack <name>              a stack or stage to run, may be repeated (default all)
  --parameter <name=value>    value of a template parameter, may be repeated
  --no-watch                  don't pick up code changes
  --quiet                     don't print requests or function logs
  --console-port <number>     port of the console page, 0 for any free port (default 0)
  --write                     enable the page's buttons: send again, drop, redrive, duplicate, kill, lose a response

If AWS_ENDPOINT_URL_DYNAMODB is set, the run uses that DynamoDB, and onceonly doesn't start its own.`,
  options: {
    port: { type: "string", default: DEFAULT_PORT },
    context: { type: "string", short: "c", multiple: true, default: ["ephemeral=true"] },
    stack: { type: "string", multiple: true, default: [] },
    parameter: { type: "string", multiple: true, default: [] },
    "no-watch": { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    "console-port": { type: "string", default: "0" },
    write: { type: "boolean", default: false },
  },
  async run({ values, positionals, terminal }) {
    const [folder = ".", ...more] = positionals;
    if (more.length > 0) throw new UsageError(`start accepts one folder, got ${more.length + 1}`);
    // A stack without an API keeps no process running, and neither does one that stops.
    const keepRunning = setInterval(() => undefined, 60_000);
    try {
      await runUntilStopped(
        {
          folder,
          port: portOf(`${values.port}`, "--port"),
          context: pairsOf(values.context, "--context"),
          stacks: listOf(values.stack),
          parameters: pairsOf(values.parameter, "--parameter"),
          dynamodbEndpoint: terminal.env.AWS_ENDPOINT_URL_DYNAMODB,
          watch: values["no-watch"] ? undefined : (text) => printLines(terminal, text),
          log: values.quiet
            ? undefined
            : (line) => {
                if (!isMetric(line)) terminal.print(line);
              },
        },
        {
          port: portOf(`${values["console-port"]}`, "--console-port"),
          mayWrite: values.write === true,
          terminal,
        },
      );
    } finally {
      clearInterval(keepRunning);
    }
    return 0;
  },
};

/** Lines of metrics are for CloudWatch. */
function isMetric(line: string): boolean {
  return /^\[[^\]]+\] \{"_aws":/.test(line);
}

interface PageOptions {
  readonly port: number;
  readonly mayWrite: boolean;
  readonly terminal: Terminal;
}

async function runUntilStopped(options: StartStackOptions, page: PageOptions): Promise<void> {
  const { terminal } = page;
  const { clock } = terminal;
  const { startStack } = await loadTool("start", "onceonly-local");
  // A port that is in use would only be noticed after the synthesis, which can take a minute.
  for (const port of [options.port ?? 0, page.port]) await checkFree(port);
  const stopping = new AbortController();
  const stopRequested = untilStopped((signal) => stopping.abort(new Error(`stopped by ${signal}`)));
  terminal.print(`synthesizing ${options.folder === "." ? "this folder" : options.folder} …`);
  const startedAtMs = Date.now();
  const decisions = decisionFeed();
  const log = (line: string) => {
    decisions.take(line, clock.now());
    options.log?.(line);
  };
  const breakage = createBreakage();
  const stack = await startStack({
    ...options,
    log,
    signal: stopping.signal,
    // Without buttons nothing stands between functions and the engine.
    ...(page.mayWrite && { disturbances: breakage.disturbances }),
  });
  const source = stackSource({ stack, title: titleOf(options.folder), decisions, breakage, clock });
  const running = await startConsole({ source, port: page.port, mayWrite: page.mayWrite }).catch(
    async (error) => {
      await stack.stop();
      throw error;
    },
  );
  const watched = options.watch ? ", watching for code changes" : "";
  const after = `${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`;
  printLines(terminal, `\nrunning after ${after}${watched}; press Ctrl-C to stop\n`);
  print(terminal, stack, running.url);
  await stopRequested;
  await running.stop();
  source.close();
  await stack.stop();
  terminal.print("stopped");
}

/** Only the folder's name: a path may reveal the user. */
const titleOf = (folder: string) => `the stacks of ${basename(resolve(folder))}`;

function print(terminal: Terminal, stack: RunningStack, consoleUrl: string): void {
  for (const api of stack.apis) {
    terminal.print(`${api.path}  ${api.url}`);
    for (const route of api.routes) terminal.print(`  ${route}`);
  }
  const rows: (readonly [string, string])[] = [
    ...Object.entries(stack.functionUrls),
    ...Object.entries(stack.tables).map(([path, { name }]) => [`table ${path}`, name] as const),
    ...Object.entries(stack.queues).map(([path, { url }]) => [`queue ${path}`, url] as const),
    ...Object.entries(stack.topics).map(([path, { arn }]) => [`topic ${path}`, arn] as const),
    ...Object.entries(stack.buses).map(([path, { arn }]) => [`event bus ${path}`, arn] as const),
    ["console page", consoleUrl],
    ["DynamoDB", stack.endpoints.dynamodb],
    ["AWS (Lambda, SNS, EventBridge)", stack.endpoints.aws],
  ];
  for (const line of aligned(rows)) terminal.print(line);
  for (const [name, value] of Object.entries(stack.outputs)) {
    for (const line of ["", `${name}:`, `  ${value}`]) terminal.print(line);
  }
  for (const line of stack.notRun) {
    terminal.print("");
    terminal.print(`not run here: ${line}`);
  }
  terminal.print("");
}

function pairsOf(pairs: OptionValues[string], option: string): Record<string, string> {
  return Object.fromEntries(
    listOf(pairs).map((pair) => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new UsageError(`${option} must be name=value (got ${pair})`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}
