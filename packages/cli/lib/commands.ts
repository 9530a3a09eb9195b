/** The commands of the command line. */
export { type CliCommand, runCommand, type Terminal, UsageError } from "./command.ts";

import { nearest } from "onceonly/kit";
import { type CliCommand, UsageError } from "./command.ts";
import { conform } from "./conform.ts";
import { consoleCommand } from "./console-command.ts";
import { doctor } from "./doctor.ts";
import { erase } from "./erase.ts";
import { explore } from "./explore.ts";
import { find } from "./find.ts";
import { fork } from "./fork.ts";
import { list } from "./list.ts";
import { openapi } from "./openapi.ts";
import { outbox } from "./outbox.ts";
import { redrive } from "./redrive.ts";
import { release } from "./release.ts";
import { replay } from "./replay.ts";
import { rerun } from "./rerun.ts";
import { resolve } from "./resolve.ts";
import { start } from "./start.ts";
import { trace } from "./trace.ts";

export const COMMANDS: Readonly<Record<string, CliCommand>> = {
  start,
  console: consoleCommand,
  explore,
  conform,
  doctor,
  find,
  trace,
  list,
  replay,
  resolve,
  release,
  rerun,
  fork,
  redrive,
  erase,
  outbox,
  openapi,
};

/** @throws UsageError for a name that no command has, with the one that was probably meant */
export function commandOf(name: string, usage: string): CliCommand {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return command;
  const meant = nearest(name, [...Object.keys(COMMANDS), "help", "version"]);
  if (meant === undefined) throw new UsageError(`unknown command \`${name}\``, { usage });
  throw new UsageError(`unknown command \`${name}\`: did you mean \`${meant}\`?`);
}
