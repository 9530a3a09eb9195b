/** The relay: a Lambda handler that sends committed messages from the stream of the table that holds the records. */
import type { Unsent } from "../core/outbox.ts";
import { type OutboxOptions, type OutboxSettings, settingsOf } from "./outbox-options.ts";
import { sendUnsent, tell } from "./send-unsent.ts";

/** What the relay reads of an event of a DynamoDB stream; `@types/aws-lambda` has the whole type. */
export interface OutboxStreamEvent {
  readonly Records: readonly {
    readonly eventName?: string | undefined;
    readonly dynamodb?: { readonly SequenceNumber?: string | undefined } | undefined;
  }[];
}

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
 * wait, other groups go on, and the stream's shard is held up until it can.
 *
 * The function needs `dynamodb:UpdateItem` on the table, `dynamodb:GetItem` for batches that are repeated,
 * `dynamodb:DeleteItem` for commits of more than 390 KB of messages, and the right to send to each destination.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws for events of other sources only.
 */
export function outboxRelay(
  options: OutboxOptions,
): (event: OutboxStreamEvent) => Promise<OutboxRelayResponse> {
  const settings = settingsOf("relay", options);
  return async function relayHandler({ Records }) {
    const { commits, stoppedAt } = await readBatch(Records, settings);
    const failed = await sendUnsent([...commits.keys()], settings);
    const first = [...commits].find(([commit]) => failed.has(commit));
    // Lambda begins again from here: what comes after it in the batch is read again.
    const itemIdentifier = first ? first[1] : stoppedAt;
    return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
  };
}

/** What is to be sent, with the identifiers of the batch; up to the first change that cannot be read. */
async function readBatch(records: OutboxStreamEvent["Records"], settings: OutboxSettings) {
  const { outbox, rules } = settings;
  const commits = new Map<Unsent, string>();
  for (const record of records) {
    const identifier = record.dynamodb?.SequenceNumber ?? "";
    let recordKey = "";
    try {
      const change = outbox.readChange(record);
      if (!change) continue;
      recordKey = change.recordKey;
      const isFresh = rules.clock.now() - change.committedAt < STALE_AFTER_MS;
      const unsent = (isFresh && change.unsent) || (await outbox.load(recordKey));
      if (unsent) commits.set(unsent, identifier);
    } catch (error) {
      tell(settings, { recordKey, committedAt: rules.clock.now() }, error);
      return { commits, stoppedAt: identifier };
    }
  }
  return { commits, stoppedAt: undefined };
}
