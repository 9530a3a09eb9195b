/** `onceonly outbox list`: the messages of each commit that waits or is parked, by their places. */
import { actsIn, type ListedCommit, type Unsent } from "onceonly/kit";
import { type CommandCall, onlyArgument, wholeNumber } from "./command.ts";
import { groupIn, hasGroup, parkedPlaces } from "./group.ts";
import { firstOf } from "./listed.ts";
import { bodiesOf } from "./message-acts.ts";
import type { OpenTable } from "./open-table.ts";
import { describeMessages, outboxBranches, timeOf } from "./record-lines.ts";
import { openTable } from "./table.ts";
import { treeLines } from "./tree.ts";

export function listCommit({ values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const recordKey = onlyArgument(positionals.slice(1), "record key");
  return printEach({ values, terminal }, async function* ({ outbox }) {
    const commit = await outbox.load(recordKey);
    if (commit) yield { recordKey, commit };
  });
}

export async function listCommits({ values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const group = hasGroup({ values }) ? groupIn({ values, positionals: positionals.slice(1) }) : undefined;
  const limit = wholeNumber(values, "limit", 1);
  return printEach({ values, terminal }, (table) => allOf(table, group), limit);
}

async function printEach(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  find: (table: OpenTable) => AsyncIterable<ListedCommit>,
  limit = Number.POSITIVE_INFINITY,
): Promise<0 | 1> {
  const isShown = values["show-body"] === true;
  const table = await openTable(values);
  try {
    const now = terminal.clock.now();
    const more = () =>
      terminal.print(values.json ? `{"more":true}` : `there are more: raise --limit ${limit}`);
    let count = 0;
    for await (const listed of firstOf(find(table), limit, more)) {
      count++;
      const bodies = isShown ? bodiesOf(listed) : undefined;
      if (values.json) terminal.print(JSON.stringify({ ...commitReport(listed), ...(bodies && { bodies }) }));
      else for (const line of linesOf(listed, now)) terminal.print(line);
      if (bodies && !values.json)
        for (const [place, { key, body }] of bodies.entries())
          terminal.print(`message ${place}, key ${key}: ${body}`);
    }
    if (count === 0 && !values.json) terminal.print("nothing found");
    return count > 0 ? 0 : 1;
  } finally {
    table.close();
  }
}

/** Each commit that the index names, or those with parked messages of a group. */
async function* allOf({ outbox }: OpenTable, group: string | undefined): AsyncGenerator<ListedCommit> {
  if (group === undefined) return yield* outbox.list();
  for await (const listed of outbox.list("parked"))
    if (listed.commit && parkedPlaces(group, listed.commit).length > 0) yield listed;
}

const reportOf = (commit: Unsent) => ({
  committedAt: commit.committedAt,
  messages: describeMessages(commit),
  acts: actsIn(commit.evidence),
});

function commitReport({ recordKey, commit, fault }: ListedCommit): object {
  return { recordKey, ...(commit ? reportOf(commit) : { state: "unreadable", why: fault?.message }) };
}

function linesOf({ recordKey, commit, fault }: ListedCommit, now: number): string[] {
  if (!commit) return [recordKey, ...treeLines([{ line: `unreadable: ${fault?.message}` }])];
  const report = reportOf(commit);
  const committed = { line: `committed ${timeOf(report.committedAt, now)}` };
  return [recordKey, ...treeLines([committed, ...outboxBranches(report, now)])];
}
