/** `onceonly list`: what nobody has settled, and the messages that wait or are parked, by the sparse indexes. Other states by a scan. */
import { type CliCommand, onlyArgument, UsageError, wholeNumber } from "./command.ts";
import { groupsOf, LISTS, type ListedLine, type ListName, listed } from "./listed.ts";
import { timeOf } from "./record-lines.ts";
import { mayScan, SCANNED, type ScannedState, scanned } from "./scan.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";

const DEFAULT_LIMIT = "50";

export const list: CliCommand = {
  usage: `usage: onceonly list unknown|waiting|parked [options]

unknown   keys that are held, abandoned or unfinished: nobody knows how they ended, or somebody has to go on
waiting   commits of which a message waits to be sent
parked    commits of which a message was given up for now, and waits for somebody's decision

Grouped by operation and reason, oldest first in each. Reads the sparse index, and each record that it names.

Any state of a record, such as completed, is in no index: with --scan the whole table is read. How much that is, and what it costs,
is shown before, and asked.

  --scan                      read the whole table
  --yes, -y                   do not ask before a scan
  --limit <number>            print at most so many (default ${DEFAULT_LIMIT})${TABLE_USAGE}`,
  options: {
    ...TABLE_OPTIONS,
    limit: { type: "string", default: DEFAULT_LIMIT },
    scan: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  },
  async run({ values, positionals, terminal }) {
    const what = onlyArgument(positionals, "list: unknown, waiting or parked");
    if (!isList(what)) checkScanned(what, values.scan === true);
    const limit = wholeNumber(values, "limit", 1);
    const table = await openTable(values);
    try {
      if (!isList(what) && !(await mayScan(table, { values, terminal }))) return 1;
      const now = terminal.clock.now();
      const lines: ListedLine[] = [];
      let isAll = true;
      const found = isList(what) ? listed(table, what, now) : scanned(table, what as ScannedState);
      for await (const line of found) {
        if (lines.length === limit) {
          isAll = false;
          break;
        }
        lines.push(line);
      }
      if (values.json) for (const line of lines) terminal.print(JSON.stringify(line));
      else for (const line of grouped(lines, now)) terminal.print(line);
      if (!isAll) terminal.print(values.json ? `{"more":true}` : `there are more: raise --limit ${limit}`);
      return lines.length > 0 ? 0 : 1;
    } finally {
      table.close();
    }
  },
};

const isList = (text: string): text is ListName => (LISTS as readonly string[]).includes(text);

/** @throws UsageError where there is no such list, or where it takes a scan that nobody asked for */
function checkScanned(what: string, isAsked: boolean): void {
  if (!(SCANNED as readonly string[]).includes(what)) {
    throw new UsageError(
      `there is no list "${what}": take ${LISTS.join(", ")}, or with --scan ${SCANNED.join(", ")}`,
    );
  }
  if (isAsked) return;
  throw new UsageError(
    `no index has the records that are ${what}: --scan reads the whole table, and says before what that costs`,
  );
}

function grouped(lines: readonly ListedLine[], now: number): string[] {
  if (lines.length === 0) return ["nothing"];
  return groupsOf(lines).flatMap(({ operation, why, members }) => [
    `${operation}: ${why} (${members.length})`,
    ...members.map(({ recordKey, since }) => `  ${recordKey}  since ${timeOf(since, now)}`),
  ]);
}
