/** `onceonly outbox`: sends, redirects or drops messages that wait or are parked, and keeps who decided so, and why. Lists them. */

import type { OutboxDestinationChange, OutboxOperator, Unsent } from "onceonly/kit";
import {
  type CliCommand,
  type CommandCall,
  type CommandForm,
  didYouMean,
  type OptionsConfig,
  type OptionValues,
  onlyArgument,
  UsageError,
} from "./command.ts";
import {
  changingGroup,
  DEFAULT_GROUP_LIMIT,
  GROUP_OPTIONS,
  groupIn,
  hasGroup,
  parkedKeys,
  parkedPlaces,
} from "./group.ts";
import type { OpenTable } from "./open-table.ts";
import { listCommit, listCommits } from "./outbox-list.ts";
import {
  BY_OPTIONS,
  BY_USAGE,
  byWhom,
  type Changed,
  changing,
  TABLE_OPTIONS,
  WRITE_OPTIONS,
  WRITE_USAGE,
} from "./table.ts";

const ACTS = ["retry", "drop", "redirect"] as const;
type Act = (typeof ACTS)[number];

const ADDRESS_OPTIONS = {
  queue: { type: "string" },
  topic: { type: "string" },
  bus: { type: "string" },
  source: { type: "string" },
  "detail-type": { type: "string" },
  "message-group": { type: "string" },
} as const satisfies OptionsConfig;

/** What the options of an address are called in a message. */
const ADDRESS: Readonly<Record<keyof typeof ADDRESS_OPTIONS, keyof OutboxDestinationChange>> = {
  queue: "queue",
  topic: "topic",
  bus: "bus",
  source: "source",
  "detail-type": "detailType",
  "message-group": "group",
};

export const outbox: CliCommand = {
  usage: `usage: onceonly outbox list [<record key> | --group <operation>[/<code>]] [options]
       onceonly outbox retry|drop|redirect <record key> [options]
       onceonly outbox retry|drop|redirect --group <operation>[/<code>] [options]

list       shows the messages of each waiting or parked commit, by position, and what operators did with them
retry      sends the messages again, with a fresh retry count
drop       gives up on the messages permanently, and records that in the commit
redirect   changes the messages' destination, and sends them there

\`list\` shows no message bodies. The exit status is 1 if nothing is waiting, or if another operator was faster.

  --message <place>           position of a message, from 0, may be repeated; required except for \`retry\` (default: all unsent ones)
  --queue, --topic, --bus     the new destination; add --source and --detail-type for a bus, --message-group for FIFO
  --group <operation>[/<code>]
                              instead of a record key: the parked messages of all commits of this operation, or only those
                              that failed with this code
  --limit <number>            at most this many commits of the group (default ${DEFAULT_GROUP_LIMIT})${BY_USAGE}${WRITE_USAGE}`,
  forms: [
    {
      name: "list of a record",
      is: (call) => actOf(call) === "list" && call.positionals.length > 1 && !hasGroup(call),
      options: TABLE_OPTIONS,
      run: listCommit,
    },
    {
      name: "list",
      is: (call) => actOf(call) === "list",
      options: { ...TABLE_OPTIONS, ...GROUP_OPTIONS },
      run: listCommits,
    },
    ...ACTS.flatMap(formsOfAct),
  ],
};

/** An act on a group, and on the messages of one commit. */
function formsOfAct(act: Act): readonly CommandForm[] {
  const options = { ...WRITE_OPTIONS, ...BY_OPTIONS, ...(act === "redirect" && ADDRESS_OPTIONS) };
  return [
    {
      name: `${act} of a group`,
      is: (call) => actOf(call) === act && hasGroup(call),
      options: { ...options, ...GROUP_OPTIONS },
      run: (call) => actOnGroup(act, call),
    },
    {
      name: act,
      is: (call) => actOf(call) === act,
      options: { ...options, message: { type: "string", multiple: true } },
      run: (call) => actOnCommit(act, call),
    },
  ];
}

function actOnGroup(act: Act, { values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const group = groupIn({ values, positionals: positionals.slice(1) });
  const deciding = decidingOf(act, { values, terminal });
  return changingGroup(
    { values, terminal },
    {
      keysOf: ({ outbox }) => parkedKeys(outbox, group),
      question: (count) => `${group}: ${act} the parked messages of ${count} commits?`,
      change: (table, key) => decide(table, key, deciding, (commit) => parkedPlaces(group, commit)),
    },
  );
}

async function actOnCommit(act: Act, { values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const recordKey = onlyArgument(positionals.slice(1), "record key, or --group");
  const places = placesOf(values);
  if (act !== "retry" && !places) throw new UsageError(`${act} needs --message, to choose the messages`);
  const deciding = decidingOf(act, { values, terminal });
  const question = `${act} ${places ? `messages ${places.join(", ")}` : "all unsent messages"} of ${recordKey}?`;
  return changing({ values, terminal }, question, (table) =>
    decide(table, recordKey, deciding, () => places),
  );
}

/** @throws UsageError */
function actOf({ positionals: [act] }: Pick<CommandCall, "positionals">): Act | "list" {
  if (act === "list" || (ACTS as readonly unknown[]).includes(act)) return act as Act | "list";
  throw new UsageError(
    `expected list, retry, drop or redirect, got ${act === undefined ? "nothing" : `\`${act}\`${didYouMean(act, ["list", ...ACTS])}`}`,
  );
}

const DONE = {
  retry: "queued again: the sweeper sends them within a minute",
  drop: "dropped",
  redirect: "redirected",
} as const;

interface Deciding extends OutboxOperator {
  readonly act: Act;
  readonly to: OutboxDestinationChange;
}

/** @param placesIn which messages; without any those that are open */
async function decide(
  { outbox }: OpenTable,
  recordKey: string,
  { act, to, ...decider }: Deciding,
  placesIn: (commit: Unsent) => readonly number[] | undefined,
): Promise<Changed> {
  const commit = await outbox.load(recordKey);
  const places = commit && placesIn(commit);
  // Somebody else has decided about the last one of the group since.
  if (!commit || places?.length === 0)
    return { done: false, message: "this record has no unsent messages", json: { done: false } };
  const these = { ...decider, messages: places ?? [] };
  const done =
    act === "retry"
      ? await outbox.sendAgain(commit, { ...decider, messages: places })
      : act === "drop"
        ? await outbox.drop(commit, these)
        : await outbox.redirect(commit, { ...these, to });
  const message = done ? DONE[act] : "the commit was changed in the meantime: look at it again";
  return { done, message, json: { done } };
}

function placesOf({ message }: OptionValues): readonly number[] | undefined {
  if (!Array.isArray(message)) return undefined;
  if (message.every((place) => /^\d+$/.test(place))) return message.map(Number);
  throw new UsageError("--message must be the position of a message, from 0");
}

function decidingOf(act: Act, { values, terminal }: Pick<CommandCall, "values" | "terminal">): Deciding {
  const to = act === "redirect" ? destinationChangeOf(values) : {};
  return { act, to, ...byWhom(values), clock: terminal.clock };
}

function destinationChangeOf(values: OptionValues): OutboxDestinationChange {
  const given = Object.entries(ADDRESS).filter(([option]) => values[option] !== undefined);
  if (!given.some(([option]) => /^(queue|topic|bus)$/.test(option)))
    throw new UsageError("redirect needs --queue, --topic or --bus");
  return Object.fromEntries(given.map(([option, name]) => [name, `${values[option]}`]));
}
