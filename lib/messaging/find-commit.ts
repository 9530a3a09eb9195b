/** Finds the commit of a stream change, ready to be sent: in the change itself, or in its record. */
import { hasCode } from "../core/error-code.ts";
import type { OutboxChange, Unsent } from "../core/messages/outbox.ts";
import { passOver } from "./pass-over.ts";
import { reportFailure } from "./report-sends.ts";
import type { Sender } from "./sender.ts";

/** An image this old may come from a batch that is repeated, or from a commit that the sweeper has sent. */
const STALE_AFTER_MS = 5000;

export interface RelayBatch {
  readonly sender: Sender;
  /** Whether this process has already failed to finish the batch. */
  readonly isRepeated: boolean;
  /** Keys of the records that it finished in such a batch. */
  readonly done: ReadonlySet<string>;
}

export interface FoundCommit {
  readonly unsent: Unsent;
  /** Whether other senders skip the commit until it is released. */
  readonly isTaken: boolean;
}

/** `undefined` for a change with nothing to send; `again` for one that must be read again. */
type Finding = FoundCommit | undefined | "again";

/** Returns without a promise if the change itself has everything: such commits are sent together. */
export function findCommit(change: unknown, batch: RelayBatch): Finding | Promise<Finding> {
  const { sender, isRepeated, done } = batch;
  const image = readImage(change, sender);
  if (!image || done.has(image.recordKey)) return undefined;
  const isFresh = !isRepeated && sender.settings.rules.clock.now() - image.committedAt < STALE_AFTER_MS;
  return isFresh && image.unsent
    ? prepared({ unsent: image.unsent, isTaken: false }, sender)
    : takeCommit(image, sender);
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) if no change of this source can be read. */
function readImage(change: unknown, { settings }: Sender): OutboxChange | undefined {
  try {
    return settings.outbox.readChange(change);
  } catch (error) {
    if (hasCode(error, "PAYLOAD_INVALID")) throw error;
    // This change will never be readable. The sweeper finds its record.
    reportFailure(settings, error);
    return undefined;
  }
}

async function takeCommit(image: OutboxChange, sender: Sender): Promise<Finding> {
  const { settings, lines, time } = sender;
  const { recordKey, committedAt } = image;
  try {
    const { id, now, until } = time.taking();
    // On the committing host's clock, the commit may be due slightly later than now.
    const taken = await settings.outbox.take(recordKey, {
      by: "relay",
      id,
      now: Math.max(now, committedAt),
      until,
    });
    if (taken.state === "taken") return prepared({ unsent: taken.unsent, isTaken: true }, sender);
    const held = taken.state === "held" && (taken.unsent ?? (await settings.outbox.load(recordKey)));
    if (!held) return undefined;
    // The sweeper has the commit, or it waits for its next try: no other may overtake it.
    await lines.prepare(held);
    lines.leave(held);
    return undefined;
  } catch (error) {
    return passOver(settings, image, error);
  }
}

/** Reads the notes first, if the commit needs them. */
function prepared(found: FoundCommit, { settings, lines }: Sender): Finding | Promise<Finding> {
  return (
    lines.prepare(found.unsent)?.then(
      () => found,
      (error) => passOver(settings, found.unsent, error),
    ) ?? found
  );
}
