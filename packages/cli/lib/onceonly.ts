#!/usr/bin/env node
// The command line that the package ships.
import { createRequire } from "node:module";
import { createInterface } from "node:readline/promises";
import { hasCode, systemClock, visible } from "onceonly/kit";
import { COMMANDS, runCommand, type Terminal, UsageError } from "./commands.ts";

const USAGE = `usage: onceonly <command> [options]

  start [folder]             run the stacks of a CDK or SAM app on local engines
  openapi <module>           document the header, its form and the answers of a handler
  console                    a page about a table: what waits, and the life of a key
  explore <module>           print what the explorer found, and write it as a page
  doctor --template <file>   a synthesized stack against the checklist for going live
  doctor --stack <name>      a deployed one, as it lives; or --table, --function, --endpoint
  find <key>                 what the record of one key says
  trace <key>                the whole life of one key: record, messages, queues, consumers
  list unknown               keys whose outcome is unknown
  list waiting|parked        messages that are not sent yet, or wait for a decision
  replay <key>               find the crash that left a record, on this machine
  release <key>              give a key back, so that a retry runs
  resolve <key>              say whether the effect of a held key happened
  redrive <queue URL>        take dead letters back to the queue they came from
  erase <key>                drop a stored answer, keep the fact that it happened
  outbox retry|drop|redirect <record key>
                             decide about the messages of one commit

resolve, release and outbox retry take a group, too: --group <operation>[/<error>]. erase takes a file of keys, or an owner

  --help, -h                 after a command: its options
  help, version              what there is; the version of onceonly: npx takes the options of these names for its own`;

const terminal: Terminal = {
  print: (line) => console.log(line),
  clock: systemClock,
  env: process.env,
  ...(process.stderr.isTTY && { progress: drawProgress }),
  async confirm(question) {
    if (!process.stdin.isTTY) return undefined;
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await prompt.question(`${question} [y/N] `).finally(() => prompt.close());
    return /^y(es)?$/i.test(answer.trim());
  },
};

const BAR = 30;

function drawProgress(done: number, total: number): void {
  const full = Math.round((done / total) * BAR);
  const bar = "█".repeat(full) + "░".repeat(BAR - full);
  process.stderr.write(`\r${bar} ${done} of ${total}${done === total ? "\n" : ""}`);
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  if (["help", "--help", "-h"].includes(`${name}`)) console.log(USAGE);
  else if (["version", "--version", "-v"].includes(`${name}`)) console.log(packageVersion());
  else {
    if (name === undefined) throw new UsageError("give a command", { usage: USAGE });
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new UsageError(`unknown command "${name}"`, { usage: USAGE });
    return runCommand(command, args, terminal);
  }
  return 0;
}

function packageVersion(): string {
  return createRequire(import.meta.url)("onceonly/package.json").version;
}

/** What was typed is wrong, whichever part notices. */
const isUsageError = (error: unknown): boolean =>
  error instanceof UsageError ||
  hasCode(error, "INVALID_OPTION") ||
  hasCode(error, "IDEMPOTENCY_KEY_INVALID");

/** What commands say of wrong arguments is text of ours, and may have lines. Other texts get one line. */
const linesOf = (error: unknown): readonly string[] => {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof UsageError ? text.split("\n") : [text];
};

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    for (const line of linesOf(error)) console.error(visible(line));
    process.exitCode = isUsageError(error) ? 2 : 1;
  },
);
