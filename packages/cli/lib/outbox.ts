/** `onceonly outbox`: sends, redirects or drops messages that wait or are parked, and keeps who decided so, and why. Lists them. */

import { readFile } from "node:fs/promises";
import {
  type CliCommand,
  type CommandCall,
  type CommandForm,
  didYouMean,
  type OptionsConfig,
  type OptionValues,
  onlyArgument,
  required,
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
import {
  decideMessages,
  destinationChangeIn,
  editMessage,
  MESSAGE_ACTS,
  type MessageAct,
  type MessageDecision,
} from "./message-acts.ts";
import { listCommit, listCommits } from "./outbox-list.ts";
import {
  BY_OPTIONS,
  BY_USAGE,
  byWhom,
  changing,
  TABLE_OPTIONS,
  WRITE_OPTIONS,
  WRITE_USAGE,
} from "./table.ts";
import { whyUnreadable } from "./unreadable.ts";

const EDIT = "edit";
const SUBCOMMANDS = ["list", ...MESSAGE_ACTS, EDIT] as const;
type Subcommand = (typeof SUBCOMMANDS)[number];

const ADDRESS_OPTIONS = {
  queue: { type: "string" },
  topic: { type: "string" },
  bus: { type: "string" },
  source: { type: "string" },
  "detail-type": { type: "string" },
  "message-group": { type: "string" },
} as const satisfies OptionsConfig;

export const outbox: CliCommand = {
  usage: `usage: onceonly outbox list [<record key> | --group <operation>[/<code>]] [options]
       onceonly outbox retry|drop|redirect <record key> [options]
       onceonly outbox retry|drop|redirect --group <operation>[/<code>] [options]
       onceonly outbox edit <record key> --message <place> --body-from <file> [options]

list       shows the messages of each waiting or parked commit, by position, and what operators did with them
retry      sends the messages again, with a fresh retry count
drop       gives up on the messages permanently, and records that in the commit
redirect   changes the messages' destination, and sends them there
edit       changes a message's body and key, and sends it; the commit keeps the previous key

\`list\` shows no message bodies, unless you pass a record key and --show-body. The exit status is 1 if nothing is waiting, or if another operator was faster.

  --message <place>           position of a message, from 0, may be repeated; required except for \`retry\` (default: all unsent ones)
  --queue, --topic, --bus     the new destination; add --source and --detail-type for a bus, --message-group for FIFO
  --group <operation>[/<code>]
                              instead of a record key: the parked messages of all commits of this operation, or only those
                              that failed with this code
  --show-body                 also print the bodies and keys, which are payloads
  --body-from <file>          the new body: the file's text, as it is
  --key <key>                 the new key of the edited message (default: a new one for each edit)
  --limit <number>            at most this many commits of the group (default ${DEFAULT_GROUP_LIMIT})${BY_USAGE}${WRITE_USAGE}`,
  forms: [
    {
      name: "list of a record",
      is: (call) => actOf(call) === "list" && call.positionals.length > 1 && !hasGroup(call),
      options: { ...TABLE_OPTIONS, "show-body": { type: "boolean" } },
      run: listCommit,
    },
    {
      name: "list",
      is: (call) => actOf(call) === "list",
      options: { ...TABLE_OPTIONS, ...GROUP_OPTIONS },
      run: listCommits,
    },
    {
      name: EDIT,
      is: (call) => actOf(call) === EDIT,
      options: {
        ...{ ...WRITE_OPTIONS, ...BY_OPTIONS, message: { type: "string", multiple: true } },
        ...{ "body-from": { type: "string" }, key: { type: "string" } },
      },
      run: editOne,
    },
    ...MESSAGE_ACTS.flatMap(formsOfAct),
  ],
};

/** An act on a group, and on the messages of one commit. */
function formsOfAct(act: MessageAct): readonly CommandForm[] {
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

function actOnGroup(act: MessageAct, { values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const group = groupIn({ values, positionals: positionals.slice(1) });
  const deciding = decidingOf(act, { values, terminal });
  return changingGroup(
    { values, terminal },
    {
      keysOf: ({ outbox }) => parkedKeys(outbox, group),
      question: (count) => `${group}: ${act} the parked messages of ${count} commits?`,
      change: (table, key) => decideMessages(table, key, deciding, (commit) => parkedPlaces(group, commit)),
    },
  );
}

async function actOnCommit(act: MessageAct, { values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const recordKey = onlyArgument(positionals.slice(1), "record key, or --group");
  const places = placesOf(values);
  if (act !== "retry" && !places) throw new UsageError(`${act} needs --message, to choose the messages`);
  const deciding = decidingOf(act, { values, terminal });
  const question = `${act} ${places ? `messages ${places.join(", ")}` : "all unsent messages"} of ${recordKey}?`;
  return changing({ values, terminal }, question, (table) =>
    decideMessages(table, recordKey, deciding, () => places),
  );
}

/** @throws UsageError */
function actOf({ positionals: [act] }: Pick<CommandCall, "positionals">): Subcommand {
  if ((SUBCOMMANDS as readonly unknown[]).includes(act)) return act as Subcommand;
  throw new UsageError(
    `expected list, retry, drop, redirect or edit, got ${act === undefined ? "nothing" : `\`${act}\`${didYouMean(act, SUBCOMMANDS)}`}`,
  );
}

async function editOne({ values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const recordKey = onlyArgument(positionals.slice(1), "record key");
  const [message, ...others] = placesOf(values) ?? [];
  if (message === undefined || others.length > 0) throw new UsageError("edit needs one --message");
  const body = await textFrom(required(values, "body-from"));
  const { key } = values;
  const edit = {
    ...{ message, body, ...byWhom(values), clock: terminal.clock },
    ...(key !== undefined && { key: `${key}` }),
  };
  const question = `edit message ${message} of ${recordKey}, and send it under ${key === undefined ? "a new key" : "this key"}?`;
  return changing({ values, terminal }, question, (table) => editMessage(table, recordKey, edit));
}

/** @throws UsageError */
async function textFrom(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`can't read the body ${file}: ${whyUnreadable(error)}`);
  });
}

function placesOf({ message }: OptionValues): readonly number[] | undefined {
  if (!Array.isArray(message)) return undefined;
  if (message.every((place) => /^\d+$/.test(place))) return message.map(Number);
  throw new UsageError("--message must be the position of a message, from 0");
}

function decidingOf(
  act: MessageAct,
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
): MessageDecision {
  const to = act === "redirect" ? destinationChangeIn(values) : {};
  if (!to) throw new UsageError("redirect needs --queue, --topic or --bus");
  return { act, to, ...byWhom(values), clock: terminal.clock };
}
