/** `onceonly outbox`: sends, redirects or drops messages that wait or are parked, and keeps who decided so, and why. Lists them. */

import type { OutboxDestinationChange } from "../core/messages/operated-outbox.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { OutboxOperator } from "../core/messages/outbox-act.ts";
import { type CliCommand, type CommandCall, type OptionValues, UsageError } from "./command.ts";
import {
  changingGroup,
  DEFAULT_GROUP_LIMIT,
  GROUP_OPTIONS,
  groupIn,
  parkedKeys,
  parkedPlaces,
} from "./group.ts";
import { listOutbox } from "./outbox-list.ts";
import {
  BY_OPTIONS,
  BY_USAGE,
  byWhom,
  type Changed,
  changing,
  type OpenTable,
  WRITE_OPTIONS,
  WRITE_USAGE,
} from "./table.ts";

const ACTS = ["retry", "drop", "redirect"] as const;
type Act = (typeof ACTS)[number];

export const outbox: CliCommand = {
  usage: `usage: onceonly outbox list [<record key> | --group <operation>[/<code>]] [options]
       onceonly outbox retry|drop|redirect <record key> [options]
       onceonly outbox retry|drop|redirect --group <operation>[/<code>] [options]

list       shows the messages of each commit that waits or is parked, by their places, and what was done with them
retry      has the messages sent as if nobody had tried
drop       gives the messages up for good, and the record says so
redirect   gives the messages another destination, and has them sent there

\`list\` shows no bodies. The exit status is 1 where nothing waits, or somebody else was first.

  --message <place>           which message, from 0, may be repeated; required but for \`retry\` (default: all that are open)
  --queue, --topic, --bus     the other destination; --source and --detail-type for a bus, --message-group for a FIFO one
  --group <operation>[/<code>]
                              instead of a record key: the parked messages of all commits of this operation, or those of
                              them that failed with this code
  --limit <number>            at most so many commits of the group (default ${DEFAULT_GROUP_LIMIT})${BY_USAGE}${WRITE_USAGE}`,
  options: {
    ...WRITE_OPTIONS,
    ...BY_OPTIONS,
    ...GROUP_OPTIONS,
    message: { type: "string", multiple: true },
    queue: { type: "string" },
    topic: { type: "string" },
    bus: { type: "string" },
    source: { type: "string" },
    "detail-type": { type: "string" },
    "message-group": { type: "string" },
  },
  async run({ values, positionals, terminal }: CommandCall) {
    const [act, ...keys] = positionals;
    if (act === "list") {
      groupIn({ values, positionals: keys });
      return listOutbox({ values, positionals: keys, terminal });
    }
    const group = groupIn({ values, positionals: keys });
    const [recordKey] = keys;
    if (!isAct(act) || keys.length !== (group === undefined ? 1 : 0)) {
      throw new UsageError(
        `give list, ${ACTS.join(", ")}, then one record key or --group; got ${positionals.length} arguments`,
      );
    }
    const places = placesOf(values);
    if (group !== undefined && places) throw new UsageError("a group takes no --message");
    if (group === undefined && act !== "retry" && !places)
      throw new UsageError(`${act} takes --message, which names the messages`);
    const deciding = { act, to: destinationChangeOf(act, values), ...byWhom(values), clock: terminal.clock };
    if (group !== undefined) {
      return changingGroup(
        { values, terminal },
        {
          keysOf: (table) => parkedKeys(table.outbox, group),
          question: (count) => `${group}: ${act} the parked messages of ${count} commits?`,
          change: (table, key) => decide(table, key, deciding, (commit) => parkedPlaces(group, commit)),
        },
      );
    }
    const question = `${act} ${places === undefined ? "all open messages" : `messages ${places.join(", ")}`} of ${recordKey}?`;
    return changing({ values, terminal }, question, (table) =>
      decide(table, `${recordKey}`, deciding, () => places),
    );
  },
};

const DONE = {
  retry: "the sweeper sends them within a minute",
  drop: "dropped",
  redirect: "redirected",
} as const;

const isAct = (text: string | undefined): text is Act => (ACTS as readonly unknown[]).includes(text);

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
    return { done: false, told: "no message of this record waits", json: { done: false } };
  const these = { ...decider, messages: places ?? [] };
  const done =
    act === "retry"
      ? await outbox.sendAgain(commit, { ...decider, messages: places })
      : act === "drop"
        ? await outbox.drop(commit, these)
        : await outbox.redirect(commit, { ...these, to });
  const told = done ? DONE[act] : "somebody else has changed the commit: look again";
  return { done, told, json: { done } };
}

function placesOf({ message }: OptionValues): readonly number[] | undefined {
  if (!Array.isArray(message)) return undefined;
  const places = message.map(Number);
  if (places.every((place) => Number.isInteger(place) && place >= 0)) return places;
  throw new UsageError("--message takes the place of a message, from 0");
}

/** What the options of an address are called in a message. */
const ADDRESS = {
  queue: "queue",
  topic: "topic",
  bus: "bus",
  source: "source",
  "detail-type": "detailType",
  "message-group": "group",
} as const;

function destinationChangeOf(act: Act, values: OptionValues): OutboxDestinationChange {
  const given = Object.entries(ADDRESS).filter(([option]) => values[option] !== undefined);
  if (act !== "redirect" && given[0]) throw new UsageError(`${act} takes no --${given[0][0]}`);
  if (act === "redirect" && !given.some(([option]) => /^(queue|topic|bus)$/.test(option)))
    throw new UsageError("redirect takes --queue, --topic or --bus");
  return Object.fromEntries(given.map(([option, name]) => [name, `${values[option]}`]));
}
