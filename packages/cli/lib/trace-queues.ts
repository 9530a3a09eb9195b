/** The queues of a key's messages, and its dead letters, for `onceonly trace`. */
import { parseAddress } from "onceonly/kit";
import { type OptionValues, UsageError } from "./command.ts";
import {
  lookAtQueue,
  lookAtRedrives,
  openQueue,
  type PeekedMessage,
  peek,
  type QueueLook,
  queueName,
  type RedriveLook,
} from "./queues.ts";
import { timeOf } from "./record-lines.ts";
import type { TraceBranch } from "./tree.ts";

/** A queue that couldn't be read is shown with the error's name. */
type QueueReport<Look> = (Look | { readonly url: string }) & { readonly failed?: string };

interface DeadLetterLook extends Partial<QueueLook> {
  readonly url: string;
  /** Absent if they weren't read. */
  readonly messages?: readonly PeekedMessage[];
  readonly redrives?: readonly RedriveLook[];
}

export interface QueueTrace {
  readonly queues: readonly QueueReport<QueueLook>[];
  readonly deadLetters: readonly (DeadLetterLook & { readonly failed?: string })[];
}

/** @throws UsageError if it isn't a queue's URL, before any request */
export async function traceQueues(
  values: OptionValues,
  urls: readonly string[],
  deadLetterUrls: readonly string[],
  requests: number,
): Promise<QueueTrace> {
  for (const url of [...urls, ...deadLetterUrls])
    if (!parseAddress("queue", url)) throw new UsageError(`not a queue URL: ${url}`);
  const queues = await Promise.all(urls.map((url) => reportOf(values, url, lookAtQueue)));
  const named = queues.flatMap((look) => ("deadLetters" in look ? (look.deadLetters ?? []) : []));
  const deadLetters = [...new Set([...deadLetterUrls, ...named])].map((url) =>
    reportOf(values, url, (client) => lookAtDeadLetters(client, url, requests)),
  );
  return { queues, deadLetters: await Promise.all(deadLetters) };
}

type QueueClient = Awaited<ReturnType<typeof openQueue>>;

async function reportOf<Look extends object>(
  values: OptionValues,
  url: string,
  look: (client: QueueClient, url: string) => Promise<Look>,
): Promise<(Look | { readonly url: string }) & { readonly failed?: string }> {
  const client = await openQueue(url, values);
  try {
    return await look(client, url);
  } catch (error) {
    return { url, failed: (error as Error).name };
  } finally {
    client.destroy();
  }
}

async function lookAtDeadLetters(
  client: QueueClient,
  url: string,
  requests: number,
): Promise<DeadLetterLook> {
  const look = await lookAtQueue(client, url);
  const redrives = await lookAtRedrives(client, look.arn).catch(() => undefined);
  // A look is a receive: where receives are counted it could move a message on.
  const messages = look.deadLetters === undefined ? await peek(client, url, requests) : undefined;
  return { ...look, ...(redrives && { redrives }), ...(messages && { messages }) };
}

export function queueBranch(look: QueueReport<QueueLook>): TraceBranch {
  const line = `queue ${queueName(look.url)}: ${countsOf(look)}`;
  const isWithout = "waiting" in look && look.deadLetters === undefined;
  return { line, below: isWithout ? [{ line: "it has no dead-letter queue" }] : [] };
}

function countsOf(look: Partial<QueueLook> & { readonly failed?: string }): string {
  if (look.failed !== undefined) return `can't be read: ${look.failed}`;
  return `about ${look.waiting} waiting, ${look.inFlight} in flight, ${look.delayed} delayed`;
}

export function deadLetterBranch(
  look: DeadLetterLook & { readonly failed?: string },
  messageKeys: readonly string[],
  now: number,
): TraceBranch {
  const line = `dead-letter queue ${queueName(look.url)}: ${countsOf(look)}`;
  if (look.failed !== undefined) return { line };
  const { messages, redrives = [] } = look;
  const redriven = redrives.map(({ status, moved, startedAt }) => ({
    line: `redrive: ${status.toLowerCase()}, ${moved} moved, ${timeOf(startedAt, now)}`,
  }));
  if (!messages)
    return { line, below: [{ line: "not checked: it has its own dead-letter queue" }, ...redriven] };
  const ours = messages.filter(({ key }) => key !== undefined && messageKeys.includes(key));
  const found = ours.map(({ messageId, sentAt, receives }) => ({
    line: `its message is here: ${messageId}, sent ${timeOf(sentAt, now)}, received ${receives} times`,
  }));
  const others = messages.length - ours.length;
  const nothing = `no message of this key among the ${others} checked`;
  const seen = ours.length > 0 ? `other messages checked: ${others}` : nothing;
  return { line, below: [...found, { line: seen }, ...redriven] };
}
