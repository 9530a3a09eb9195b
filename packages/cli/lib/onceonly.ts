#!/usr/bin/env node
// The command line that the package ships.
import { createRequire } from "node:module";
import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";
import { hasCode, systemClock, visible } from "onceonly/kit";
import { commandOf, runCommand, type Terminal, UsageError } from "./commands.ts";
import { hasColours, progressLine } from "./tty.ts";

const USAGE = `usage: onceonly <command> [options]

  start [folder]             run the stacks of a CDK or SAM app on local engines
  openapi <module>           print the OpenAPI part about a handler's idempotency
  console                    serve a page about a table: what's waiting, and the life of a key
  explore <module>           print the explorer's reports, or write them as a page
  conform <url>              check that any HTTP server honours idempotency keys: races, lost responses, wrong keys
  doctor --template <file>   check a synthesized stack against the go-live checklist
  doctor --stack <name>      check a deployed one; or --table, --function, --endpoint
  find <key>                 show the record of a key
  trace <key>                show the life of a key: record, messages, queues, consumers
  list unknown               list keys whose outcome is unknown
  list waiting|parked        list messages that aren't sent yet, or need a decision
  replay <key>               find the crash that left a record, in the local simulator
  release <key>              release a key, so that a retry runs
  resolve <key>              record whether the effect of a held key happened, or correct such a decision
  rerun <key>                let a finished key run again
  fork <key>                 run an operation again from one of its steps, under a new key
  redrive <queue URL>        move dead letters back to the queue they came from
  erase <key>                erase a stored answer, but keep the fact that it happened
  outbox retry|drop|redirect <record key>
                             decide about a commit's messages

resolve, release and outbox also accept a group: --group <operation>[/<error>]. erase also accepts a file of keys, or an owner

  --help, -h                 after a command: show its options
  help, version              show this help; show the version (as commands, because npx keeps --help and --version for itself)`;

const COLOURS = { bad: "red", good: "green", faint: "gray" } as const;

const isColoured = hasColours(process.stdout, process.env);
const line = progressLine((text) => process.stderr.write(text));

const terminal: Terminal = {
  print(text, tone) {
    line.clear();
    console.log(isColoured && tone ? styleText(COLOURS[tone], text) : text);
  },
  clock: systemClock,
  env: process.env,
  ...(process.stderr.isTTY && { progress: line.draw }),
  async confirm(question) {
    if (!process.stdin.isTTY) return undefined;
    line.clear();
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await prompt.question(`${question} [y/N] `).finally(() => prompt.close());
    return /^y(es)?$/i.test(answer.trim());
  },
};

async function main([name, ...args]: readonly string[]): Promise<number> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  if (["help", "--help", "-h"].includes(`${name}`)) console.log(USAGE);
  else if (["version", "--version", "-v"].includes(`${name}`)) console.log(packageVersion());
  else {
    if (name === undefined) throw new UsageError("no command given", { usage: USAGE });
    return runCommand(commandOf(name, USAGE), args, terminal);
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

/** Our own usage errors may have several lines. Any other message is printed on one. */
const linesOf = (error: unknown): readonly string[] => {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof UsageError ? text.split("\n") : [text];
};

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    line.clear();
    for (const each of linesOf(error)) console.error(visible(each));
    process.exitCode = isUsageError(error) ? 2 : 1;
  },
);
