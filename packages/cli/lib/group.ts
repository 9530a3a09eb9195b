/** One decision about many keys: those of an operation, or of an operation and an error, as the sparse indexes list them. */
import { namesOf, type Unsent } from "onceonly/kit";
import { type CommandCall, type OptionsConfig, UsageError, wholeNumber } from "./command.ts";
import { firstOf, outcomesOf } from "./listed.ts";
import type { OpenTable } from "./open-table.ts";
import { type Changed, isMeant, openTable, printWithheld } from "./table.ts";

export const DEFAULT_GROUP_LIMIT = "1000";

export const GROUP_OPTIONS = {
  group: { type: "string" },
  limit: { type: "string", default: DEFAULT_GROUP_LIMIT },
} as const satisfies OptionsConfig;

export const GROUP_USAGE = `
  --group <operation>[/<error>]
                              instead of a key: every key of an operation in \`list unknown\`, or those with this last error
  --limit <number>            change at most this many of the group (default ${DEFAULT_GROUP_LIMIT})`;

export const hasGroup = ({ values }: Pick<CommandCall, "values">): boolean => values.group !== undefined;

/** The group that is given instead of a key. @throws UsageError for both */
export function groupIn({ values, positionals }: Pick<CommandCall, "values" | "positionals">): string {
  if (positionals.length > 0) throw new UsageError("pass a key or --group, not both");
  return `${values.group}`;
}

/** Operations may have a slash in their names, so that the whole name is compared. */
function isIn(group: string, recordKey: string, error: string | undefined): boolean {
  const { operation } = namesOf(recordKey);
  return group === operation || (error !== undefined && group === `${operation}/${error}`);
}

export async function* unknownKeys(
  store: OpenTable["store"],
  group: string,
  before: number,
): AsyncGenerator<string> {
  for await (const { recordKey, state, evidence } of outcomesOf(store, before))
    if (state !== "unreadable" && isIn(group, recordKey, evidence?.lastError?.name)) yield recordKey;
}

export async function* parkedKeys(outbox: OpenTable["outbox"], group: string): AsyncGenerator<string> {
  for await (const { recordKey, commit } of outbox.list("parked"))
    if (commit && parkedPlaces(group, commit).length > 0) yield recordKey;
}

/** Places of the messages of a commit that are parked and in the group. */
export function parkedPlaces(group: string, { recordKey, progress = [] }: Unsent): readonly number[] {
  return progress.flatMap(({ state, code }, place) =>
    state === "parked" && isIn(group, recordKey, code) ? place : [],
  );
}

/** The most keys that are shown before the question. */
const SHOWN = 20;

interface GroupChange {
  readonly keysOf: (table: OpenTable) => AsyncIterable<string> | Iterable<string>;
  readonly question: (count: number) => string;
  /** Changes one, under its own fence. */
  readonly change: (table: OpenTable, recordKey: string) => Promise<Changed>;
}

/**
 * Reads the group, shows its keys, asks once with its size, and changes one after the other. Keys that another process has
 * changed since stay as they are. The exit status is 1 if the group is empty, or if one of it was not changed.
 * @throws UsageError without a terminal to ask in
 */
export async function changingGroup(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  { keysOf, question, change }: GroupChange,
): Promise<0 | 1> {
  const limit = values.limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber(values, "limit", 1);
  const table = await openTable(values);
  try {
    const recordKeys: string[] = [];
    let isAll = true;
    const more = () => (isAll = false);
    for await (const recordKey of firstOf(keysOf(table), limit, more)) recordKeys.push(recordKey);
    if (recordKeys.length === 0) {
      terminal.print(values.json ? JSON.stringify({ changed: 0, of: 0 }) : "the group is empty");
      return 1;
    }
    if (!values.yes && !values["dry-run"] && !values.json) {
      for (const recordKey of recordKeys.slice(0, SHOWN)) terminal.print(recordKey);
      if (recordKeys.length > SHOWN) terminal.print(`and ${recordKeys.length - SHOWN} more`);
    }
    const which = isAll ? "" : ` (the first of more: --limit ${limit})`;
    if (!(await isMeant({ values, terminal }, `${question(recordKeys.length)}${which}`))) return 1;
    let done = 0;
    for (const [index, recordKey] of recordKeys.entries()) {
      const changed = await change(table, recordKey).catch(notChanged);
      done += changed.done ? 1 : 0;
      terminal.progress?.(index + 1, recordKeys.length);
      if (values["dry-run"]) continue;
      if (values.json) terminal.print(JSON.stringify({ recordKey, ...changed.json }));
      else if (!changed.done || changed.next)
        terminal.print(`${recordKey}  ${changed.next ?? changed.message}`);
    }
    if (values["dry-run"]) printWithheld({ values, terminal }, table.withheld, "nothing would be written");
    else if (!values.json) terminal.print(`changed ${done} of ${recordKeys.length}`);
    if (!isAll && !values.json) terminal.print("there are more: run the command again");
    return done === recordKeys.length ? 0 : 1;
  } finally {
    table.close();
  }
}

/** One that fails must not keep the others from being changed. */
export function notChanged(error: unknown): Changed {
  const { name, message } = error as Error;
  return { done: false, message: `not changed: ${message}`, json: { error: name } };
}
