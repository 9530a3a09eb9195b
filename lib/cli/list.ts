/** `onceonly list`: what nobody has settled, and the messages that wait or are parked, by the sparse indexes. No scan. */
import { destinationOf } from "../core/messages/address.ts";
import { UNTRIED } from "../core/messages/outbox.ts";
import { type CliCommand, onlyArgument, UsageError } from "./command.ts";
import { timeOf } from "./record-lines.ts";
import { type OpenTable, openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";

const LISTS = ["unknown", "waiting", "parked"] as const;
type Listed = (typeof LISTS)[number];

const DEFAULT_LIMIT = "50";

interface ListedLine {
  readonly recordKey: string;
  readonly state: string;
  /** Epoch ms. */
  readonly since: number;
  /** What the lines of a group have in common. */
  readonly why: string;
}

export const list: CliCommand = {
  usage: `usage: onceonly list unknown|waiting|parked [options]

unknown   keys that are held, abandoned or unfinished: nobody knows how they ended, or somebody has to go on
waiting   commits of which a message waits to be sent
parked    commits of which a message was given up for now, and waits for somebody's decision

Grouped by operation and reason, oldest first in each. Reads the sparse index, and each record that it names.

  --limit <number>            print at most so many (default ${DEFAULT_LIMIT})${TABLE_USAGE}`,
  options: { ...TABLE_OPTIONS, limit: { type: "string", default: DEFAULT_LIMIT } },
  async run({ values, positionals, terminal }) {
    const what = onlyArgument(positionals, "list: unknown, waiting or parked");
    if (!isList(what)) throw new UsageError(`there is no list "${what}": take ${LISTS.join(", ")}`);
    const limit = Number(values.limit);
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit takes a whole number from 1");
    const table = await openTable(values);
    try {
      const now = terminal.clock.now();
      const lines: ListedLine[] = [];
      let isAll = true;
      const found = what === "unknown" ? unknown(table.store, now) : commits(table.outbox, what);
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

const isList = (text: string): text is Listed => (LISTS as readonly string[]).includes(text);

async function* unknown(store: OpenTable["store"], before: number): AsyncGenerator<ListedLine> {
  for await (const { recordKey, state, since, steps = [], evidence } of store.unknownOutcomes({ before })) {
    const error = evidence?.lastError && `, last error ${evidence.lastError.name}`;
    const step = steps.length > 0 ? `, step ${steps.join(" and ")}` : "";
    yield { recordKey, state, since, why: `${state}${step}${error ?? ""}` };
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

function grouped(lines: readonly ListedLine[], now: number): string[] {
  if (lines.length === 0) return ["nothing"];
  const groups = new Map<string, ListedLine[]>();
  for (const line of lines) {
    const name = `${operationOf(line.recordKey)}: ${line.why}`;
    groups.set(name, [...(groups.get(name) ?? []), line]);
  }
  return [...groups].flatMap(([name, members]) => [
    `${name} (${members.length})`,
    ...members
      .toSorted((one, other) => one.since - other.since)
      .map(({ recordKey, since }) => `  ${recordKey}  since ${timeOf(since, now)}`),
  ]);
}

const operationOf = (recordKey: string): string => recordKey.slice(0, recordKey.indexOf("#"));
