/** `onceonly list`: unknown outcomes and waiting or parked messages, from the sparse indexes; other states by a scan. */
import { aligned } from "./aligned.ts";
import {
  type CliCommand,
  type CommandCall,
  didYouMean,
  type OptionsConfig,
  onlyArgument,
  type Tone,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { firstOf, groupsOf, LISTS, type ListedLine, type ListName, listed } from "./listed.ts";
import type { OpenTable } from "./open-table.ts";
import { timeOf, toneOf } from "./record-lines.ts";
import { mayScan, SCANNED, type ScannedState, scanned } from "./scan.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";

const DEFAULT_LIMIT = "50";

const OPTIONS = {
  ...TABLE_OPTIONS,
  limit: { type: "string", default: DEFAULT_LIMIT },
} as const satisfies OptionsConfig;

const NAMED = "list: unknown, waiting or parked";

export const list: CliCommand = {
  usage: `usage: onceonly list unknown|waiting|parked [options]

unknown   keys that are held, abandoned or unfinished: their outcome is unknown, or an operator has to act
waiting   commits with messages waiting to be sent
parked    commits with messages that the relay gave up on, until an operator retries, redirects or drops them

Grouped by operation and reason, oldest first. Reads the sparse index and the records that it lists.

Other states, such as completed, aren't indexed: --scan reads the whole table for them, after showing the cost and asking.

  --scan                      read the whole table
  --yes, -y                   don't ask before a scan
  --limit <number>            print at most this many (default ${DEFAULT_LIMIT})${TABLE_USAGE}`,
  forms: [
    {
      name: "a list of an index",
      is: ({ positionals }) => isList(positionals[0]),
      options: OPTIONS,
      run: listIndex,
    },
    {
      name: "a scan",
      options: { ...OPTIONS, scan: { type: "boolean" }, yes: { type: "boolean", short: "y" } },
      run: listScanned,
    },
  ],
};

async function listIndex(input: CommandCall): Promise<0 | 1> {
  const list = onlyArgument(input.positionals, NAMED) as ListName;
  return printFirst(input, async (table, now) => counting(listed(table, list, now), input.terminal));
}

/** Each line of an index is a read. */
async function* counting(
  lines: AsyncIterable<ListedLine>,
  { progress }: CommandCall["terminal"],
): AsyncGenerator<ListedLine> {
  let read = 0;
  for await (const line of lines) {
    progress?.(++read);
    yield line;
  }
}

async function listScanned(input: CommandCall): Promise<0 | 1> {
  const { values, positionals } = input;
  const state = onlyArgument(positionals, NAMED);
  checkScanned(state, values.scan === true);
  return printFirst(input, async (table) =>
    (await mayScan(table, input))
      ? scanned(table, state as ScannedState, (items) => input.terminal.progress?.(items))
      : undefined,
  );
}

async function printFirst(
  { values, terminal }: CommandCall,
  find: (table: OpenTable, now: number) => Promise<AsyncIterable<ListedLine> | undefined>,
): Promise<0 | 1> {
  const limit = wholeNumber(values, "limit", 1);
  const table = await openTable(values);
  try {
    const now = terminal.clock.now();
    const found = await find(table, now);
    if (!found) return 1;
    const lines: ListedLine[] = [];
    let isAll = true;
    const more = () => (isAll = false);
    for await (const line of firstOf(found, limit, more)) lines.push(line);
    if (values.json) for (const line of lines) terminal.print(JSON.stringify(line));
    else for (const [line, tone] of grouped(lines, now)) terminal.print(line, tone);
    if (!isAll) terminal.print(values.json ? `{"more":true}` : `there are more: raise --limit ${limit}`);
    return lines.length > 0 ? 0 : 1;
  } finally {
    table.close();
  }
}

const isList = (text: string | undefined): boolean => (LISTS as readonly unknown[]).includes(text);

/** @throws UsageError if there is no such list, or if it needs a scan and `--scan` is missing */
function checkScanned(what: string, isAsked: boolean): void {
  if (!(SCANNED as readonly string[]).includes(what)) {
    throw new UsageError(
      `no such list \`${what}\`${didYouMean(what, [...LISTS, ...SCANNED])}: use ${LISTS.join(", ")}, or with --scan ${SCANNED.join(", ")}`,
    );
  }
  if (isAsked) return;
  throw new UsageError(
    `records that are ${what} aren't indexed: pass --scan to read the whole table (it shows the cost and asks first)`,
  );
}

function grouped(lines: readonly ListedLine[], now: number): (readonly [line: string, tone?: Tone])[] {
  if (lines.length === 0) return [["nothing found"]];
  return groupsOf(lines).flatMap(({ operation, why, members }) => {
    const rows = aligned(members.map(({ recordKey, since }) => [recordKey, `since ${timeOf(since, now)}`]));
    const headline = `${operation}: ${why} (${members.length})`;
    return [[headline, toneOf(members[0]!.state)] as const, ...rows.map((row) => [`  ${row}`] as const)];
  });
}
