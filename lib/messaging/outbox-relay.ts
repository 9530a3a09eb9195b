/** The relay: a Lambda handler that sends committed messages from the stream of the table that holds the records. */
import type { Unsent } from "../core/outbox.ts";
import { BlockedLines } from "./blocked-lines.ts";
import { type TimedContext, timeOf } from "./invocation-time.ts";
import { type OutboxOptions, type OutboxSettings, settingsOf } from "./outbox-options.ts";
import { COMMITS_AT_ONCE, sendUnsent, tell } from "./send-unsent.ts";

/** What the relay reads of an event of a DynamoDB stream; `@types/aws-lambda` has the whole type. */
export interface OutboxStreamEvent {
  readonly Records: readonly {
    readonly eventName?: string | undefined;
    readonly dynamodb?: { readonly SequenceNumber?: string | undefined } | undefined;
  }[];
}

type Change = OutboxStreamEvent["Records"][number];

export interface OutboxRelayResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/** An image this old may come from a batch that was sent and is repeated, or belong to what the sweeper has sent. */
const STALE_AFTER_MS = 5000;

/**
 * A handler for the table's stream (new images, partial batch responses): sends the messages of each commit to their
 * destinations and marks the commit as sent under its claim token.
 *
 * Promises: every committed message is sent at least once, at first within about a second; a message that a FIFO queue
 * gets twice within 5 minutes it delivers once, and beyond that the consumer's idempotency, under the key in the envelope, keeps
 * the effect single. Within a message group messages leave in the order of their commits, as far as the stream tells
 * it: commits of one key, and commits in one shard. When one message cannot be sent, those behind it in its group
 * wait, other groups go on, and the stream's shard is held up until it can. When the invocation is nearly over, the rest
 * of the batch is left for the next one.
 *
 * The function needs `dynamodb:UpdateItem` on the table, `dynamodb:GetItem` for batches that are repeated,
 * `dynamodb:DeleteItem` for commits of more than 390 KB of messages, and the right to send to each destination.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws for events of other sources only.
 */
export function outboxRelay(
  options: OutboxOptions,
): (event: OutboxStreamEvent, context?: TimedContext) => Promise<OutboxRelayResponse> {
  const settings = settingsOf("relay", options);
  // Lambda repeats such a batch at once, most likely in this process: what was marked must not be sent again.
  let isRepeated = false;
  return async function relayHandler({ Records }, context) {
    const hasTime = timeOf(context);
    const blocked = new BlockedLines();
    let rest = Records;
    let first: string | undefined;
    while (rest.length > 0 && hasTime()) {
      const { commits, unread, fault } = await readSome(rest, { isRepeated, hasTime, ...settings });
      const left = await sendSome([...commits.keys()], blocked, settings);
      first ??= [...commits].find(([commit]) => left.has(commit))?.[1] ?? fault;
      rest = unread;
    }
    if (rest[0]) first ??= identifierOf(rest[0]);
    isRepeated = first !== undefined;
    // Lambda begins again from here: what comes after it in the batch is read again.
    return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first }] };
  };
}

interface Reading extends OutboxSettings {
  readonly isRepeated: boolean;
  readonly hasTime: () => boolean;
}

/** The next commits to send, with the identifiers of the batch; up to the first change that cannot be read. */
async function readSome(changes: readonly Change[], reading: Reading) {
  const { outbox, rules, isRepeated, hasTime } = reading;
  const commits = new Map<Unsent, string>();
  for (const [index, change] of changes.entries()) {
    if (commits.size === COMMITS_AT_ONCE || !hasTime()) return { commits, unread: changes.slice(index) };
    let recordKey = "";
    try {
      const image = outbox.readChange(change);
      if (!image) continue;
      recordKey = image.recordKey;
      const isFresh = !isRepeated && rules.clock.now() - image.committedAt < STALE_AFTER_MS;
      const unsent = (isFresh && image.unsent) || (await outbox.load(recordKey));
      if (unsent) commits.set(unsent, identifierOf(change));
    } catch (error) {
      tell(reading, { recordKey, committedAt: rules.clock.now() }, error);
      return { commits, unread: [], fault: identifierOf(change) };
    }
  }
  return { commits, unread: [] };
}

/** The commits that have to come again: that were not sent and marked, or wait for one of their groups. */
async function sendSome(
  commits: readonly Unsent[],
  blocked: BlockedLines,
  settings: OutboxSettings,
): Promise<ReadonlySet<Unsent>> {
  const left = new Set(commits.filter((commit) => blocked.holdUp(commit)));
  const free = commits.filter((commit) => !left.has(commit));
  for (const commit of await sendUnsent(free, settings)) left.add(commit);
  for (const commit of left) blocked.block(commit);
  return left;
}

function identifierOf({ dynamodb }: Change): string {
  return dynamodb?.SequenceNumber ?? "";
}
