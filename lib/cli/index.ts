/** The commands that look at a table of records, and decide about them. */
export { type CliCommand, runCommand, type Terminal, UsageError } from "./command.ts";

import type { CliCommand } from "./command.ts";
import { erase } from "./erase.ts";
import { find } from "./find.ts";
import { list } from "./list.ts";
import { outbox } from "./outbox.ts";
import { resolve } from "./resolve.ts";
import { start } from "./start.ts";

export const COMMANDS: Readonly<Record<string, CliCommand>> = { start, find, list, resolve, erase, outbox };
