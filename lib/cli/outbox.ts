/** `onceonly outbox`: sends, redirects or drops the messages of one commit that wait or are parked. */

import type { OutboxDestinationChange } from "../core/messages/operated-outbox.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import { type CliCommand, type CommandCall, type OptionValues, UsageError } from "./command.ts";
import { changingGroup, DEFAULT_GROUP_LIMIT, GROUP_OPTIONS, groupIn, parkedKeys } from "./group.ts";
import { changing, type OpenTable, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

const ACTS = ["retry", "drop", "redirect"] as const;
type Act = (typeof ACTS)[number];

export const outbox: CliCommand = {
  usage: `usage: onceonly outbox retry|drop|redirect <record key> [options]
       onceonly outbox retry --group <operation>[/<code>] [options]

retry      has the messages sent as if nobody had tried
drop       gives the messages up for good, and the record says so
redirect   gives the messages another destination, and has them sent there

\`onceonly list parked\` prints the record keys. The exit status is 1 where nothing waits, or somebody else was first.

  --message <place>           which message, from 0, may be repeated; required but for \`retry\` (default: all that are open)
  --queue, --topic, --bus     the other destination; --source and --detail-type for a bus, --group for a FIFO one
  --group, for \`retry\`       all commits with parked messages of this operation, or those that failed with this code
  --limit <number>            at most so many of the group (default ${DEFAULT_GROUP_LIMIT})
${WRITE_USAGE}`,
  options: {
    ...WRITE_OPTIONS,
    message: { type: "string", multiple: true },
    queue: { type: "string" },
    topic: { type: "string" },
    bus: { type: "string" },
    source: { type: "string" },
    "detail-type": { type: "string" },
    ...GROUP_OPTIONS,
  },
  async run(input: CommandCall) {
    const { values, positionals, terminal } = input;
    const [act, recordKey, ...more] = positionals;
    if (act === "retry" && values.group !== undefined) return retryGroup(input);
    if (!isAct(act) || recordKey === undefined || more.length > 0)
      throw new UsageError(
        `give ${ACTS.join(", ")}, then one record key; got ${positionals.length} arguments`,
      );
    const places = placesOf(values);
    if (act !== "retry" && places === undefined)
      throw new UsageError(`${act} takes --message, which names the messages`);
    const to = destinationChangeOf(act, values);
    const question = `${act} ${places === undefined ? "all open messages" : `messages ${places.join(", ")}`} of ${recordKey}?`;
    return changing({ values, terminal }, question, async (table) => {
      const commit = await table.outbox.load(recordKey);
      const done = commit !== undefined && (await decide(table, act, commit, places, to));
      const why = commit
        ? "somebody else has changed the commit: look again"
        : "no message of this record waits";
      return { done, told: done ? DONE[act] : why, json: { done } };
    });
  },
};

function retryGroup({ values, positionals, terminal }: CommandCall): Promise<0 | 1> {
  const group = `${groupIn({ values, positionals: positionals.slice(1) })}`;
  if (values.message !== undefined) throw new UsageError("a group takes no --message");
  return changingGroup(
    { values, terminal },
    {
      keysOf: ({ outbox }) => parkedKeys(outbox, group),
      question: (count) => `${group}: send the messages of ${count} commits again?`,
      change: async ({ outbox }, recordKey) => {
        const commit = await outbox.load(recordKey);
        const done = commit !== undefined && (await outbox.sendAgain(commit));
        return { done, told: done ? DONE.retry : "somebody else was first", json: { done } };
      },
    },
  );
}

const DONE = {
  retry: "the sweeper sends them within a minute",
  drop: "dropped",
  redirect: "redirected",
} as const;

const isAct = (text: string | undefined): text is Act => (ACTS as readonly unknown[]).includes(text);

function decide(
  { outbox }: OpenTable,
  act: Act,
  commit: Unsent,
  places: readonly number[] | undefined,
  to: OutboxDestinationChange,
): Promise<boolean> {
  if (act === "retry") return outbox.sendAgain(commit, places);
  return act === "drop" ? outbox.drop(commit, places!) : outbox.redirect(commit, places!, to);
}

function placesOf({ message }: OptionValues): readonly number[] | undefined {
  if (!Array.isArray(message)) return undefined;
  const places = message.map(Number);
  if (places.every((place) => Number.isInteger(place) && place >= 0)) return places;
  throw new UsageError("--message takes the place of a message, from 0");
}

const ADDRESS = ["queue", "topic", "bus", "source", "detail-type", "group"] as const;

function destinationChangeOf(act: Act, values: OptionValues): OutboxDestinationChange {
  const given = ADDRESS.filter((name) => values[name] !== undefined);
  if (act !== "redirect" && given.length > 0) throw new UsageError(`${act} takes no --${given[0]}`);
  if (act === "redirect" && !given.some((name) => /^(queue|topic|bus)$/.test(name)))
    throw new UsageError("redirect takes --queue, --topic or --bus");
  return Object.fromEntries(
    given.map((name) => [name === "detail-type" ? "detailType" : name, `${values[name]}`]),
  );
}
