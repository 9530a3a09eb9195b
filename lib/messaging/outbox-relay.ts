/** The relay: a Lambda handler that sends committed messages from the stream of the table that holds the records. */
import { hasCode } from "../core/error-code.ts";
import { PayloadInvalidError } from "../core/errors.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import type { OutboxChange, Unsent } from "../core/messages/outbox.ts";
import type { Circuits } from "./connections.ts";
import { type OutboxOptions, settingsOf } from "./outbox-options.ts";
import { passOver } from "./pass-over.ts";
import { COMMITS_AT_ONCE, type Sender, sendCommit, senderOf, tell, waitingOf } from "./send-commit.ts";

/** The fields that the relay reads in an event of a DynamoDB stream; `@types/aws-lambda` has the whole type. */
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

/** What Lambda writes into each record of a stream. */
export const STREAM_SOURCE = "aws:dynamodb";

/** An image this old may come from a batch that was sent and is repeated, or belong to what the sweeper has sent. */
const STALE_AFTER_MS = 5000;

/**
 * A handler for the table's stream (new images, partial batch responses). It sends the messages of each commit to their
 * destinations. As soon as these are accepted, it marks the commit as sent under its claim token.
 *
 * Promises: every committed message is sent at least once, at first within about a second. A FIFO queue that gets a message
 * twice within 5 minutes delivers it once. Beyond that the consumer's idempotency, under the key in the envelope, keeps the
 * effect single. Within a message group messages leave in the order of their commits, as far as the stream tells that
 * order. It does so for commits of one key, and for commits in one shard. A message that cannot be sent is left to the sweeper, with those
 * behind it in its group. All other messages go on, and accepted messages are not sent again. A destination that does not
 * answer, or refuses request after request, is not asked for a while. When the invocation is nearly over, the rest of the
 * batch is left for the next one.
 *
 * The function needs `dynamodb:UpdateItem` on the table, and the right to send to each destination. For messages that are
 * too large for their record it needs `dynamodb:GetItem` and `dynamodb:DeleteItem`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws PayloadInvalidError (`PAYLOAD_INVALID`) for events
 * of other sources, for changes of another table than the outbox's, and for a stream without new images. Other items of
 * the same table are passed over.
 */
export function outboxRelay(
  options: OutboxOptions,
): (event: OutboxStreamEvent, context?: TimedContext) => Promise<OutboxRelayResponse> {
  const settings = settingsOf("relay", options);
  const circuits: Circuits = new Map();
  // Lambda repeats a batch at once, most likely in this process: commits that are done need no second look.
  let isRepeated = false;
  let done: ReadonlySet<string> = new Set();
  return async function relayHandler(event, context) {
    const Records = changesOf(event);
    const sender = senderOf(settings, context, circuits);
    const window = new Window();
    const sent: string[] = [];
    const left: string[] = [];
    let again = Records.length;

    for (const [index, change] of Records.entries()) {
      if (window.isFull) await window.room();
      let found: FoundCommit | Promise<FoundCommit>;
      try {
        found = sender.time.hasMore() ? readCommit(change, { sender, isRepeated, done }) : "again";
      } catch (error) {
        // Work that still ran after the answer would be frozen with the process.
        await window.empty();
        throw error;
      }
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
    // Other relays get later messages of a line, and have to know of those that are left to the sweeper.
    const isNoted = await saveNotes(sender);
    const first = Records[isNoted ? again : 0];
    isRepeated = first !== undefined;
    done = new Set(isRepeated ? [...done, ...sent, ...(isNoted ? left : [])] : []);
    // Lambda begins again from here, and reads the rest of the batch again.
    return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: identifierOf(first) }] };
  };
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that is of no DynamoDB stream. */
function changesOf(event: OutboxStreamEvent): OutboxStreamEvent["Records"] {
  const { Records } = Object(event) as Partial<OutboxStreamEvent>;
  if (!Array.isArray(Records)) {
    throw new PayloadInvalidError(
      "the event has no records: feed outboxRelay with the stream of the table; outboxSweeper runs on a schedule",
    );
  }
  const sources = Records.map((record) => Object(record).eventSource ?? STREAM_SOURCE);
  if (sources.every((source) => source === STREAM_SOURCE)) return Records;
  throw new PayloadInvalidError(
    "the records are of no DynamoDB stream: feed outboxRelay with the stream of the table; consumers of messages are made by idempotentBatch",
  );
}

interface RelayBatch {
  readonly sender: Sender;
  readonly isRepeated: boolean;
  readonly done: ReadonlySet<string>;
}

type FoundCommit = { readonly unsent: Unsent; readonly isTaken: boolean } | undefined | "again";

/** Answers without a promise where the change itself has it all: such commits are sent together. */
function readCommit(
  change: OutboxStreamEvent["Records"][number],
  { sender, isRepeated, done }: RelayBatch,
): FoundCommit | Promise<FoundCommit> {
  const { outbox, rules } = sender.settings;
  let image: OutboxChange | undefined;
  try {
    image = outbox.readChange(change);
  } catch (error) {
    // Every change of this source is so, and nobody would miss their messages soon.
    if (hasCode(error, "PAYLOAD_INVALID")) throw error;
    // The change will never be readable, and the sweeper finds what the record says.
    tell(sender.settings, "send-failed", { recordKey: "", committedAt: rules.clock.now() }, 0, error);
    return undefined;
  }
  if (!image || done.has(image.recordKey)) return undefined;
  const isFresh = !isRepeated && rules.clock.now() - image.committedAt < STALE_AFTER_MS;
  if (!isFresh || !image.unsent) return takeCommit(image, sender);
  const found = { unsent: image.unsent, isTaken: false };
  return sender.lines.needsNotes(image.unsent) ? withNotes(found, sender) : found;
}

async function takeCommit(image: OutboxChange, sender: Sender): Promise<FoundCommit> {
  const { settings, lines, time } = sender;
  const { recordKey, committedAt } = image;
  try {
    const { id, now, until } = time.taking();
    // By the clock of the host that committed, the commit may be due a little later than now.
    const taken = await settings.outbox.take(recordKey, {
      by: "relay",
      id,
      now: Math.max(now, committedAt),
      until,
    });
    if (taken.state === "taken") return withNotes({ unsent: taken.unsent, isTaken: true }, sender);
    const held = taken.state === "held" && (taken.unsent ?? (await settings.outbox.load(recordKey)));
    if (!held) return undefined;
    // The sweeper has the commit, or waits to try it again: nothing overtakes it.
    if (lines.needsNotes(held)) await lines.read();
    for (const message of waitingOf(held)) lines.leave(held, message);
    return undefined;
  } catch (error) {
    return passOver(settings, image, error);
  }
}

async function withNotes(found: FoundCommit & object, { settings, lines }: Sender): Promise<FoundCommit> {
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

function identifierOf({ dynamodb }: OutboxStreamEvent["Records"][number]): string {
  return dynamodb?.SequenceNumber ?? "";
}

/** A commit is small while the write goes on that keeps how far it got. */
const MAX_WORKING = 40;

/** Bounds the commits that are sent at once. */
class Window {
  readonly #working = new Set<Promise<unknown>>();
  #entered = 0;
  #leave: () => void = () => {};
  #hasLeft = Promise.resolve();

  get isFull(): boolean {
    return this.#entered >= COMMITS_AT_ONCE || this.#working.size >= MAX_WORKING;
  }

  /** Resolves once there is room again. */
  async room(): Promise<void> {
    while (this.#entered >= COMMITS_AT_ONCE) await this.#hasLeft;
    while (this.#working.size >= MAX_WORKING) await Promise.race(this.#working);
  }

  /** `work` calls `leave` to make room for others, and may go on after that. */
  enter(work: (leave: () => void) => Promise<unknown>): void {
    this.#entered += 1;
    if (this.isFull) {
      this.#hasLeft = new Promise((resolve) => {
        this.#leave = resolve;
      });
    }
    const working = work(() => {
      this.#entered -= 1;
      this.#leave();
    }).finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  /** Resolves when all work has come to its end. */
  async empty(): Promise<void> {
    await Promise.all(this.#working);
  }
}
