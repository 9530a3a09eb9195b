/** The relay: a Lambda handler that sends committed messages from the stream of the table that holds the records. */
import type { OutboxChange, Unsent } from "../core/messages/outbox.ts";
import type { Circuits } from "./deliver.ts";
import { type InvocationTime, type TimedContext, timeOf } from "./invocation-time.ts";
import { type OutboxOptions, settingsOf } from "./outbox-options.ts";
import { passOver } from "./pass-over.ts";
import { type Sender, sendCommit, senderOf, tell, waitingOf } from "./send-commit.ts";
import { Window } from "./window.ts";

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
 * destinations and marks the commit as sent under its claim token, as soon as its own messages are accepted.
 *
 * Promises: every committed message is sent at least once, at first within about a second; a message that a FIFO queue
 * gets twice within 5 minutes it delivers once, and beyond that the consumer's idempotency, under the key in the envelope, keeps
 * the effect single. Within a message group messages leave in the order of their commits, as far as the stream tells
 * it: commits of one key, and commits in one shard. A message that cannot be sent is left to the sweeper, with those
 * behind it in its group; whatever else there is goes on, and what was accepted is not sent again. A destination that does
 * not answer, or refuses request after request, is not asked for a while. When the invocation is nearly over, the rest of the
 * batch is left for the next one.
 *
 * The function needs `dynamodb:UpdateItem` on the table, `dynamodb:GetItem` and `dynamodb:DeleteItem` for messages that are
 * too large for their record, and the right to send to each destination.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws for events of other sources only.
 */
export function outboxRelay(
  options: OutboxOptions,
): (event: OutboxStreamEvent, context?: TimedContext) => Promise<OutboxRelayResponse> {
  const settings = settingsOf("relay", options);
  const circuits: Circuits = new Map();
  // Lambda repeats a batch at once, most likely in this process: what it is done with needs no second look.
  let isRepeated = false;
  let done: ReadonlySet<string> = new Set();
  return async function relayHandler({ Records }, context) {
    const time = timeOf(context, settings.rules);
    const sender = senderOf(settings, time, circuits);
    const reading = { sender, time, isRepeated, done };
    const window = new Window();
    const sent: string[] = [];
    const left: string[] = [];
    let again = Records.length;

    for (const [index, change] of Records.entries()) {
      if (window.isFull) await window.room();
      const found = time.hasMore() ? readCommit(change, reading) : "again";
      const commit = found instanceof Promise ? await found : found;
      if (commit === "again") {
        again = Math.min(again, index);
        break;
      }
      if (commit === undefined) continue;
      window.enter(async (leave) => {
        const { unsent, isTaken } = commit;
        const outcome = await sendCommit(sender, unsent, isTaken, leave);
        if (outcome === "again") again = Math.min(again, index);
        else (outcome === "sent" ? sent : left).push(unsent.recordKey);
      });
    }
    await window.empty();
    // What is left to the sweeper must be known to whoever gets what comes after it.
    const isNoted = await saveNotes(sender);
    const first = Records[isNoted ? again : 0];
    isRepeated = first !== undefined;
    done = new Set(isRepeated ? [...done, ...sent, ...(isNoted ? left : [])] : []);
    // Lambda begins again from here: what comes after it in the batch is read again.
    return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: identifierOf(first) }] };
  };
}

interface Reading {
  readonly sender: Sender;
  readonly time: InvocationTime;
  readonly isRepeated: boolean;
  readonly done: ReadonlySet<string>;
}

type Found = { readonly unsent: Unsent; readonly isTaken: boolean } | undefined | "again";

/** Without a promise where the change itself has it all: what is found at once is sent together. */
function readCommit(change: Change, reading: Reading): Found | Promise<Found> {
  const { sender, isRepeated, done } = reading;
  const { outbox, rules } = sender.settings;
  let image: OutboxChange | undefined;
  try {
    image = outbox.readChange(change);
  } catch (error) {
    // It will never be readable, and the sweeper finds what the record says.
    tell(sender.settings, "send-failed", { recordKey: "", committedAt: rules.clock.now() }, 0, error);
    return undefined;
  }
  if (!image || done.has(image.recordKey)) return undefined;
  const isFresh = !isRepeated && rules.clock.now() - image.committedAt < STALE_AFTER_MS;
  if (!isFresh || !image.unsent) return takeCommit(image, reading);
  const found = { unsent: image.unsent, isTaken: false };
  return sender.lines.needsNotes(image.unsent) ? withNotes(found, sender) : found;
}

async function takeCommit(image: OutboxChange, { sender, time }: Reading): Promise<Found> {
  const { settings, lines } = sender;
  const { recordKey, committedAt } = image;
  try {
    const { id, now, until } = time.taking();
    // By the clock of whoever committed it may be due a little later than now.
    const taken = await settings.outbox.take(recordKey, {
      by: "relay",
      id,
      now: Math.max(now, committedAt),
      until,
    });
    if (taken.state === "taken") return withNotes({ unsent: taken.unsent, isTaken: true }, sender);
    const held = taken.state === "held" && (taken.unsent ?? (await settings.outbox.load(recordKey)));
    if (!held) return undefined;
    // The sweeper has it, or waits to try it again: nothing overtakes it.
    if (lines.needsNotes(held)) await lines.read();
    for (const message of waitingOf(held)) lines.leave(held, message);
    return undefined;
  } catch (error) {
    return passOver(settings, image, error);
  }
}

async function withNotes(found: Found & object, { settings, lines }: Sender): Promise<Found> {
  try {
    if (lines.needsNotes(found.unsent)) await lines.read();
    return found;
  } catch (error) {
    return passOver(settings, found.unsent, error);
  }
}

async function saveNotes({ settings, lines }: Sender): Promise<boolean> {
  try {
    await lines.save();
    return true;
  } catch (error) {
    tell(settings, "send-failed", { recordKey: "", committedAt: settings.rules.clock.now() }, 0, error);
    return false;
  }
}

function identifierOf({ dynamodb }: Change): string {
  return dynamodb?.SequenceNumber ?? "";
}
