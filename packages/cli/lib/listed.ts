/** Reads the sparse indexes: keys with an unknown outcome, and commits whose messages wait or are parked. No scan. */
import { destinationOf, namesOf, UNTRIED, type UnknownOutcome } from "onceonly/kit";
import { UsageError } from "./command.ts";
import type { OpenTable } from "./open-table.ts";

export const LISTS = ["unknown", "waiting", "parked"] as const;
export type ListName = (typeof LISTS)[number];

export interface ListedLine {
  readonly recordKey: string;
  readonly state: string;
  /** Epoch ms. */
  readonly since: number;
  /** The number of the last claim, where the list knows it. */
  readonly attempt?: number | undefined;
  /** What the lines of a group have in common. */
  readonly why: string;
}

export function listed(table: OpenTable, list: ListName, now: number): AsyncGenerator<ListedLine> {
  return list === "unknown" ? unknown(table.store, now) : commits(table.outbox, list);
}

/** @throws UsageError where the store lists none */
export function outcomesOf(store: OpenTable["store"], before: number): AsyncIterable<UnknownOutcome> {
  // A key that is held since this very millisecond is listed too.
  if (store.unknownOutcomes) return store.unknownOutcomes({ before: before + 1 });
  throw new UsageError(
    "this store has no `unknownOutcomes`: it never holds keys, so there is nothing to list",
  );
}

async function* unknown(store: OpenTable["store"], before: number): AsyncGenerator<ListedLine> {
  for await (const found of outcomesOf(store, before)) {
    const { recordKey, state, since, attempt, steps = [], evidence } = found;
    const error = evidence?.lastError && `, last error ${evidence.lastError.name}`;
    const step = steps.length > 0 ? `, step ${steps.join(" and ")}` : "";
    yield { recordKey, state, since, attempt, why: `${state}${step}${error ?? ""}` };
  }
}

async function* commits(
  outbox: OpenTable["outbox"],
  state: "waiting" | "parked",
): AsyncGenerator<ListedLine> {
  for await (const { recordKey, commit, fault } of outbox.list(state)) {
    if (!commit) yield { recordKey, state: "unreadable", since: 0, why: `unreadable: ${fault?.message}` };
    else {
      const { messages, progress = messages.map(() => UNTRIED), committedAt } = commit;
      const meant = messages.filter((_, place) => progress[place]?.state === state);
      const codes = progress.flatMap(({ state: of, code }) => (of === state && code ? code : []));
      const to = [...new Set(meant.map((message) => destinationOf(message)))].join(" and ");
      yield {
        recordKey,
        state,
        since: committedAt,
        why: `${state}, to ${to}${[...new Set(codes)].map((code) => `, ${code}`).join("")}`,
      };
    }
  }
}

/** At most so many, and then says that there are more. */
export async function* firstOf<Each>(
  all: AsyncIterable<Each> | Iterable<Each>,
  limit: number,
  onMore: () => void,
): AsyncGenerator<Each> {
  let count = 0;
  for await (const each of all) {
    if (count++ === limit) return onMore();
    yield each;
  }
}

/** By operation and reason, oldest first in each. */
export function groupsOf(
  lines: readonly ListedLine[],
): { readonly operation: string; readonly why: string; readonly members: readonly ListedLine[] }[] {
  const groups = new Map<string, { operation: string; why: string; members: ListedLine[] }>();
  for (const line of lines) {
    const { operation } = namesOf(line.recordKey);
    const name = `${operation}: ${line.why}`;
    const group = groups.get(name) ?? { operation, why: line.why, members: [] };
    group.members.push(line);
    groups.set(name, group);
  }
  for (const { members } of groups.values()) members.sort((one, other) => one.since - other.since);
  return [...groups.values()];
}
