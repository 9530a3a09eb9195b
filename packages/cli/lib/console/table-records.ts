/** One table as the console sees it: rows, and groups of failures. No key, payload or result leaves it. */
import { createHash } from "node:crypto";
import { namesOf } from "onceonly/kit";
import { groupsOf, LISTS, type ListedLine, type ListName, listed } from "../listed.ts";
import type { OpenTable } from "../open-table.ts";
import type { ScannedRecord } from "../scan.ts";
import type { FailureGroup, LiveState, RecordRow } from "./look.ts";

/** The most keys that are read of each list. */
const LIMIT = 100;

export interface ListsLook {
  readonly groups: readonly FailureGroup[];
  readonly rows: readonly RecordRow[];
  readonly outbox: { readonly waiting: number; readonly parked: number };
  readonly hasMore: boolean;
  /** Why lists are not there. */
  readonly problems: readonly string[];
}

/** What the sparse indexes of a table name. A list whose index the table lacks becomes a problem. */
export async function lookAtLists(
  table: OpenTable,
  name: string,
  now: number,
  remember: (recordKey: string) => void,
  lists: readonly ListName[] = LISTS,
): Promise<ListsLook> {
  const groups: FailureGroup[] = [];
  const problems: string[] = [];
  const lines: Record<ListName, ListedLine[]> = { unknown: [], waiting: [], parked: [] };
  let hasMore = false;
  for (const list of lists) {
    try {
      for await (const line of listed(table, list, now)) {
        hasMore ||= lines[list].length === LIMIT;
        if (hasMore) break;
        lines[list].push(line);
        remember(line.recordKey);
      }
    } catch (error) {
      if (!lacksIndex(error)) throw error;
      problems.push(`Can't list what is ${list}: ${(error as Error).message}`);
    }
    groups.push(...groupsOf(lines[list]).map((group) => failureGroup(name, list, group)));
  }
  return {
    groups,
    hasMore,
    problems,
    rows: lines.unknown.map((line) => unknownRow(name, line)),
    outbox: { waiting: lines.waiting.length, parked: lines.parked.length },
  };
}

/** The table is there, but not the index: it is an option of the table. */
function lacksIndex(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown };
  return cause instanceof Error && cause.name === "ValidationException";
}

function failureGroup(
  table: string,
  list: ListName,
  { operation, why, members }: ReturnType<typeof groupsOf>[number],
): FailureGroup {
  const id = createHash("sha256").update([table, list, operation, why].join("\n")).digest("base64url");
  return {
    id: id.slice(0, 12),
    list,
    table,
    operation,
    why,
    members: members.map(({ recordKey, since }) => ({ keyHash: namesOf(recordKey).keyHash, since })),
  };
}

function unknownRow(table: string, { recordKey, state, since, attempt = 0 }: ListedLine): RecordRow {
  const names = namesOf(recordKey);
  return { table, ...names, state: state as LiveState, attempt, createdAt: since, since };
}

/** A record that a scan found. A claim whose lease is over is abandoned. */
export function recordRow(
  table: string,
  { recordKey, record, unsettledSince }: ScannedRecord,
  now: number,
): RecordRow {
  const names = { table, ...namesOf(recordKey) };
  if (!record) return { ...names, state: "unreadable", attempt: 0, createdAt: 0, since: 0 };
  const { state, attempt, createdAt, completedAt, leaseEndsAt } = record;
  return {
    ...names,
    state: state === "in-progress" && leaseEndsAt < now ? "abandoned" : state,
    attempt,
    createdAt,
    since: (state === "held" ? unsettledSince : completedAt) ?? leaseEndsAt,
  };
}
