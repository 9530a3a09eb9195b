/** `onceonly redrive`: moves the messages of a dead-letter queue back to their source queue. */
import type { SendMessageCommandInput } from "@aws-sdk/client-sqs";
import { type ByWhom, parseAddress } from "onceonly/kit";
import { type CliCommand, type CommandCall, onlyArgument, UsageError, wholeNumber } from "./command.ts";
import { lookAtQueue, openQueue, queueName, siblingUrl } from "./queues.ts";
import {
  type DeadLetter,
  type Redriven,
  receiveDeadLetters,
  sendBack,
  showAgain,
} from "./redrive-messages.ts";
import { BY_OPTIONS, byWhom, isMeant, printWithheld } from "./table.ts";

const DEFAULT_MAX = "100";
const MOST = 100_000;

export const redrive: CliCommand = {
  usage: `usage: onceonly redrive <URL of a dead-letter queue> [options]

Sends each message back to the queue it came from, then deletes it here. The body, attributes, group and envelope with its
idempotency key stay the same, so consumers replay what has already run. On a FIFO queue each message gets a new deduplication
id, the same one for each redrive. A message without an envelope is left here, because its key would change. The exit status
is 1 if any message is left.

  --to <URL>                  another queue (default: the queue that each message came from)
  --group <message group id>  only messages of this group, such as one order of a FIFO queue
  --message-key <key>         only messages with this idempotency key in their envelope
  --max <number>              receive at most this many messages (default ${DEFAULT_MAX}, up to ${MOST})
  --without-envelope          also move messages without an envelope: their consumers will see new keys
  --by <name>, --why <text>   printed with the result (required): keep the output, because queues don't store it
  --region, --profile         as for the AWS CLI (default: the URL's region)
  --json                      print JSON
  --dry-run                   receive messages (hiding them briefly), print the requests, and send nothing
  --yes, -y                   don't ask for confirmation`,
  options: {
    to: { type: "string" },
    group: { type: "string" },
    "message-key": { type: "string" },
    max: { type: "string", default: DEFAULT_MAX },
    "without-envelope": { type: "boolean" },
    ...BY_OPTIONS,
    region: { type: "string" },
    profile: { type: "string" },
    json: { type: "boolean" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  },
  async run({ values, positionals, terminal }) {
    const url = onlyArgument(positionals, "URL of a dead-letter queue");
    const about = byWhom(values);
    const max = wholeNumber(values, "max", 1, MOST);
    const to = values.to === undefined ? undefined : `${values.to}`;
    for (const each of [url, ...(to === undefined ? [] : [to])])
      if (!parseAddress("queue", each)) throw new UsageError(`not a queue URL: ${each}`);
    const { region } = parseAddress("queue", url)!;
    if (region !== undefined && values.region !== undefined && values.region !== region)
      throw new UsageError(
        `--region is ${values.region}, but the URL's region is ${region}: remove one of them`,
      );
    if (to === url) throw new UsageError("--to is the dead-letter queue itself: pass another queue");
    if (to !== undefined && to.endsWith(".fifo") !== url.endsWith(".fifo"))
      throw new UsageError(
        "--to isn't the same type as the dead-letter queue: both must be FIFO, or neither",
      );
    if (to !== undefined && new URL(to).origin !== new URL(url).origin)
      throw new UsageError("--to isn't in the same region and endpoint as the dead-letter queue");
    const client = await openQueue(url, values);
    try {
      const { waiting, deadLetters } = await lookAtQueue(client, url);
      if (deadLetters !== undefined && !to)
        throw new UsageError(
          "this queue has its own dead-letter queue, so it may be the source: pass --to if you mean it",
        );
      const count = Math.min(waiting, max);
      if (
        count > 0 &&
        !(await isMeant({ values, terminal }, questionOf({ values, url, to }, count, waiting)))
      )
        return 1;
      const run: RedriveRun = { values, terminal, client, url, to, max, count, about };
      return count === 0 ? report(run, { moved: 0, passed: 0, left: [] }) : await move(run);
    } finally {
      client.destroy();
    }
  },
};

function questionOf(
  { values, url, to }: Pick<RedriveRun, "values" | "url" | "to">,
  count: number,
  waiting: number,
): string {
  const target = to === undefined ? "the queues they came from" : queueName(to);
  const { group, "message-key": key } = values;
  if (group !== undefined || key !== undefined) {
    const meant = group === undefined ? "with this key" : key === undefined ? "of this group" : "with both";
    return `${queueName(url)}: receive about ${count} of ${waiting} messages, and move those ${meant} to ${target}?`;
  }
  return `${queueName(url)}: move about ${count} of ${waiting} messages to ${target}?`;
}

interface RedriveRun extends Pick<CommandCall, "values" | "terminal"> {
  readonly client: Awaited<ReturnType<typeof openQueue>>;
  readonly url: string;
  readonly to: string | undefined;
  readonly max: number;
  /** How many are expected. */
  readonly count: number;
  readonly about: ByWhom;
}

interface RedriveOutcome {
  readonly moved: number;
  /** Were received, and are not meant. */
  readonly passed: number;
  readonly left: readonly (Redriven & { readonly moved: false })[];
}

async function move(run: RedriveRun): Promise<0 | 1> {
  const { values, terminal, client, url, to, max, count } = run;
  const withheld: { operation: string; input: unknown }[] = [];
  const left: (Redriven & { moved: false })[] = [];
  const passed: DeadLetter[] = [];
  const { group: onlyGroup, "message-key": onlyKey } = values;
  /** Groups of which a message stays: what follows it must not overtake it. */
  const stopped = new Set<string>();
  let moved = 0;
  const targetOf = (message: DeadLetter) => {
    if (to !== undefined) return to;
    return message.sourceArn === undefined ? undefined : siblingUrl(url, message.sourceArn);
  };
  for await (const message of receiveDeadLetters(client, url, max)) {
    const { group, key, messageId } = message;
    if ((onlyGroup ?? group) !== group || (onlyKey ?? key) !== key) {
      passed.push(message);
      if (group !== undefined) stopped.add(group);
      continue;
    }
    const target = targetOf(message);
    const isBare = key === undefined && !values["without-envelope"];
    const isStopped = group !== undefined && stopped.has(group);
    let end: Redriven;
    if (isStopped) end = { moved: false, messageId, why: "an earlier message of its group was left here" };
    else if (target === undefined)
      end = { moved: false, messageId, why: "it doesn't say which queue it came from: pass --to" };
    else if (isBare) end = { moved: false, messageId, why: "it has no envelope" };
    else if (values["dry-run"]) {
      withheld.push({ operation: "SendMessage", input: withoutContent(message.inputFor(target)) });
      withheld.push({ operation: "DeleteMessage", input: { QueueUrl: url, MessageId: messageId } });
      end = { moved: true, messageId };
    } else end = await sendBack(client, url, target, message);
    if (end.moved) moved += 1;
    else {
      left.push(end);
      if (group !== undefined) stopped.add(group);
    }
    terminal.progress?.(Math.min(moved + left.length, count), count);
  }
  await showAgain(client, url, passed);
  if (!values["dry-run"]) return report(run, { moved, passed: passed.length, left });
  printWithheld({ values, terminal }, withheld, "nothing would be sent");
  return left.length === 0 ? 0 : 1;
}

/** Bodies and attributes are payloads: only their sizes are shown. */
function withoutContent({ MessageBody = "", MessageAttributes = {}, ...input }: SendMessageCommandInput) {
  const names = Object.keys(MessageAttributes);
  return { ...input, MessageBody: `<${Buffer.byteLength(MessageBody)} bytes>`, MessageAttributes: names };
}

function report({ values, terminal, about }: RedriveRun, { moved, passed, left }: RedriveOutcome): 0 | 1 {
  const isPart = values.group !== undefined || values["message-key"] !== undefined;
  if (values.json) terminal.print(JSON.stringify({ moved, left, ...(isPart && { passed }), ...about }));
  else {
    for (const { messageId, why } of left) terminal.print(`${messageId}  left here: ${why}`);
    if (isPart) terminal.print(`received but left here, because they didn't match: ${passed}`);
    terminal.print(`moved ${moved}, by ${about.by}: ${about.why}`);
  }
  return moved > 0 && left.length === 0 ? 0 : 1;
}
