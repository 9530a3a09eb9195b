/** The relay: a Lambda handler that sends committed messages from the stream of the table that holds the records. */
import { PayloadInvalidError } from "../core/errors.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import { CommitWindow } from "./commit-window.ts";
import type { Circuits } from "./connections.ts";
import { type FoundCommit, findCommit, type RelayBatch } from "./find-commit.ts";
import { type OutboxOptions, settingsOf } from "./outbox-options.ts";
import { reportFailure } from "./report-sends.ts";
import { type CommitOutcome, sendCommit } from "./send-commit.ts";
import { type Sender, senderOf } from "./sender.ts";

/** The fields that the relay reads in a DynamoDB stream event; `@types/aws-lambda` has the full type. */
export interface OutboxStreamEvent {
  readonly Records: readonly {
    readonly eventSource?: string | undefined;
    readonly eventSourceARN?: string | undefined;
    readonly eventName?: string | undefined;
    readonly dynamodb?: { readonly SequenceNumber?: string | undefined } | undefined;
  }[];
}

export interface OutboxRelayResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/** The source that Lambda writes into each stream record. */
export const STREAM_SOURCE = "aws:dynamodb";

/**
 * Creates a handler for the table's stream (new images, partial batch responses). It sends the messages of each commit to
 * their destinations. Once these are accepted, it marks the commit as sent under its claim token.
 *
 * Guarantees: every committed message is sent at least once, the first time within about a second. A FIFO queue that gets
 * a message twice within 5 minutes delivers it once. Beyond that, the consumer's idempotency under the envelope's key
 * prevents a second effect. Within a message group, messages leave in the order of their commits, if the stream has that
 * order. It does for commits of one key and for commits in one shard. A message that can't be sent is left to the
 * sweeper, with those after it in its group. All other messages go on, and accepted messages aren't sent again. A
 * destination that doesn't respond, or refuses request after request, is skipped for a while. When the invocation is
 * nearly over, the rest of the batch is left for the next one.
 *
 * The function needs `dynamodb:UpdateItem` on the table, and permission to send to each destination. For messages too
 * large for their record it also needs `dynamodb:GetItem` and `dynamodb:DeleteItem`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. The handler throws PayloadInvalidError (`PAYLOAD_INVALID`)
 * for events from other sources, for changes of a table other than the outbox's, and for a stream without new images. It
 * skips other items in the same table.
 */
export function outboxRelay(
  options: OutboxOptions,
): (event: OutboxStreamEvent, context?: TimedContext) => Promise<OutboxRelayResponse> {
  const settings = settingsOf("relay", options);
  const circuits: Circuits = new Map();
  // Lambda repeats a batch immediately, usually in this process, so finished commits needn't be checked again.
  let isRepeated = false;
  let done: ReadonlySet<string> = new Set();
  return async function relayHandler(event, context) {
    const changes = changesOf(event);
    const sender = senderOf(settings, context, circuits);
    const { again, ended } = await sendChanges(changes, { sender, isRepeated, done });
    // Relays of other batches get later messages of a line, so they must see which ones are left to the sweeper.
    const isNoted = await saveNotes(sender);
    const first = changes[isNoted ? again : 0];
    isRepeated = first !== undefined;
    const isDone = ({ outcome }: EndedCommit) => outcome === "sent" || (isNoted && outcome !== "again");
    const keys = ended.filter(isDone).map(({ recordKey }) => recordKey);
    done = new Set(isRepeated ? [...done, ...keys] : []);
    // Lambda restarts here, and reads the rest of the batch again.
    return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: identifierOf(first) }] };
  };
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that isn't from a DynamoDB stream. */
function changesOf(event: OutboxStreamEvent): OutboxStreamEvent["Records"] {
  const { Records } = Object(event) as Partial<OutboxStreamEvent>;
  if (!Array.isArray(Records)) {
    throw new PayloadInvalidError(
      "the event has no records: connect outboxRelay to the table's stream (the one that runs on a schedule is outboxSweeper)",
    );
  }
  const sources = Records.map((record) => Object(record).eventSource ?? STREAM_SOURCE);
  if (sources.every((source) => source === STREAM_SOURCE)) return Records;
  throw new PayloadInvalidError(
    "the records don't come from a DynamoDB stream: connect outboxRelay to the table's stream (to consume messages, use idempotentBatch)",
  );
}

interface EndedCommit {
  readonly index: number;
  readonly recordKey: string;
  readonly outcome: CommitOutcome;
}

/** Sends a batch's commits, up to the first change that must come again. Resolves to its index, or to the number of changes. */
async function sendChanges(
  changes: OutboxStreamEvent["Records"],
  batch: RelayBatch,
): Promise<{ readonly again: number; readonly ended: readonly EndedCommit[] }> {
  const window = new CommitWindow();
  const ended: EndedCommit[] = [];
  let end = changes.length;
  try {
    for (const [index, change] of changes.entries()) {
      if (window.isFull) await window.room();
      const finding = batch.sender.time.hasMore() ? findCommit(change, batch) : "again";
      // Await only promises: commits found in the same turn share requests.
      const found = finding instanceof Promise ? await finding : finding;
      if (found === "again") {
        end = index;
        break;
      }
      if (found) window.enter((leave) => sendFound(found, index, leave));
    }
  } finally {
    // Work that continued after the response would be frozen with the process.
    await window.empty();
  }
  const cutShort = ended.filter(({ outcome }) => outcome === "again").map(({ index }) => index);
  return { again: Math.min(end, ...cutShort), ended };

  async function sendFound(
    { unsent, isTaken }: FoundCommit,
    index: number,
    leave: () => void,
  ): Promise<void> {
    const outcome = await sendCommit(batch.sender, unsent, isTaken, leave);
    ended.push({ index, recordKey: unsent.recordKey, outcome });
  }
}

async function saveNotes({ settings, lines }: Sender): Promise<boolean> {
  try {
    await lines.notes.save();
    return true;
  } catch (error) {
    reportFailure(settings, error);
    return false;
  }
}

function identifierOf({ dynamodb }: OutboxStreamEvent["Records"][number]): string {
  return dynamodb?.SequenceNumber ?? "";
}
