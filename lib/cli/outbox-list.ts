/** `onceonly outbox list`: the messages of each commit that waits or is parked, by their places. */
import type { ListedCommit } from "../core/messages/operated-outbox.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import { actsIn } from "../core/messages/outbox-act.ts";
import { type CommandCall, UsageError, wholeNumber } from "./command.ts";
import { GROUP_OPTIONS, parkedPlaces } from "./group.ts";
import { outboxBranches, tellMessages, timeOf } from "./record-lines.ts";
import { type OpenTable, openTable, TABLE_OPTIONS } from "./table.ts";
import { treeLines } from "./tree.ts";

/** Reads each commit that the index names, or one. @throws UsageError for options that only acts take */
export async function listOutbox({ values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const [recordKey, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`list takes one record key at most, got ${positionals.length}`);
  const known = { ...TABLE_OPTIONS, ...GROUP_OPTIONS };
  const foreign = Object.keys(values).find((name) => !(name in known));
  if (foreign !== undefined) throw new UsageError(`list takes no --${foreign}`);
  const limit = wholeNumber(values, "limit", 1);
  const table = await openTable(values);
  try {
    const now = terminal.clock.now();
    let count = 0;
    for await (const listed of recordKey === undefined ? allOf(table, values.group) : one(table, recordKey)) {
      if (count === limit) {
        terminal.print(values.json ? `{"more":true}` : `there are more: raise --limit ${limit}`);
        break;
      }
      count++;
      if (values.json) terminal.print(JSON.stringify(told(listed)));
      else for (const line of linesOf(listed, now)) terminal.print(line);
    }
    if (count === 0 && !values.json) terminal.print("nothing");
    return count > 0 ? 0 : 1;
  } finally {
    table.close();
  }
}

async function* one({ outbox }: OpenTable, recordKey: string): AsyncGenerator<ListedCommit> {
  const commit = await outbox.load(recordKey);
  if (commit) yield { recordKey, commit };
}

async function* allOf({ outbox }: OpenTable, group: unknown): AsyncGenerator<ListedCommit> {
  const seen = new Set<string>();
  for (const state of group === undefined ? (["waiting", "parked"] as const) : (["parked"] as const)) {
    for await (const listed of outbox.list(state)) {
      const { recordKey, commit } = listed;
      // One of which some messages wait and others are parked is in both lists.
      if (seen.has(recordKey)) continue;
      seen.add(recordKey);
      if (group === undefined || (commit && parkedPlaces(`${group}`, commit).length > 0)) yield listed;
    }
  }
}

const reportOf = (commit: Unsent) => ({
  committedAt: commit.committedAt,
  messages: tellMessages(commit),
  acts: actsIn(commit.evidence),
});

function told({ recordKey, commit, fault }: ListedCommit): object {
  return { recordKey, ...(commit ? reportOf(commit) : { state: "unreadable", why: fault?.message }) };
}

function linesOf({ recordKey, commit, fault }: ListedCommit, now: number): string[] {
  if (!commit) return [recordKey, ...treeLines([{ line: `unreadable: ${fault?.message}` }])];
  const report = reportOf(commit);
  const committed = { line: `committed ${timeOf(report.committedAt, now)}` };
  return [recordKey, ...treeLines([committed, ...outboxBranches(report, now)])];
}
