/** Sends the messages that a commit left, from the first check to the last report. */
import type { Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { faultOf } from "../core/messages/prepare-message.ts";
import { type CommitEnd, dueAtOf, endOf, hasOwnRetry, INVALID, ON_HOLD, progressOf } from "./commit-end.ts";
import { DestinationRefused, type SendEnd } from "./destination-queue.ts";
import type { OutboxSettings } from "./outbox-options.ts";
import { reportCommit, reportEnd, reportSends, type TimedEnd } from "./report-sends.ts";
import type { Sender } from "./sender.ts";

/**
 * `sent`: all messages are sent, and the commit is marked. `failed`: refused messages have a time for their next try, or
 * are parked. `waiting`: nothing was tried, because earlier messages failed. `again`: the invocation ended too early, or
 * the progress couldn't be stored.
 */
export type CommitOutcome = "sent" | "failed" | "waiting" | "again";

/**
 * Never rejects: failures are reported. `onEnded` is called once all messages have ended, before the progress is stored.
 * `isTaken` if other senders skip the commit until it is released.
 */
export async function sendCommit(
  sender: Sender,
  unsent: Unsent,
  isTaken: boolean,
  onEnded: () => void = () => {},
): Promise<CommitOutcome> {
  const { settings } = sender;
  const ends = await sendMessages(sender, unsent);
  onEnded();
  const now = settings.rules.clock.now();
  const end = endOf(unsent, ends, now, settings.parking);
  let isFirst: boolean;
  try {
    isFirst = await keepEnd(sender, unsent, end, now, isTaken);
  } catch (error) {
    reportSends(settings, unsent, ends, end, false);
    reportCommit(settings, "send-failed", unsent, ends.length, error);
    return "again";
  }
  reportSends(settings, unsent, ends, end, true);
  reportEnd(settings, unsent, ends, end, isFirst);
  if (end.isOver) return "sent";
  if (end.isCutShort) return "again";
  return end.hasFailed ? "failed" : "waiting";
}

/** Resolves once all waiting messages have ended; the others have no end. */
function sendMessages(sender: Sender, unsent: Unsent): Promise<readonly (TimedEnd | undefined)[]> {
  const { dispatch, lines, settings } = sender;
  const { clock } = settings.rules;
  const startedAt = clock.now();
  const ends: (TimedEnd | undefined)[] = [];
  // All or none: a commit that comes back in a moment shouldn't have to record by then what it has sent.
  const isHeldBack = lines.isHeldBack(unsent);
  const sendOne = (message: StoredMessage, end: (ended: SendEnd) => void): void => {
    const refusal = isHeldBack ? ON_HOLD : refusalOf(unsent, message, settings);
    if (refusal) end(refusal);
    else lines.send(unsent, message, dispatch, end);
  };
  const sends = [...progressOf(unsent).entries()].map(([index, { state }]) => {
    if (state !== "waiting") return undefined;
    return new Promise<void>((resolve) => {
      sendOne(unsent.messages[index]!, (ended) => {
        ends[index] = { ...ended, startedAt, endedAt: clock.now() };
        resolve();
      });
    });
  });
  return Promise.all(sends).then(() => ends);
}

/** A later version's message is left to that version. */
const UNKNOWN: SendEnd = { result: { sent: false, code: "MessageUnknown" } };

function refusalOf(
  { recordKey }: Unsent,
  message: StoredMessage,
  { fence }: OutboxSettings,
): SendEnd | undefined {
  const fault = faultOf(message);
  if (fault) return fault === "MessageInvalid" ? INVALID : UNKNOWN;
  if (!fence || fence(recordKey, message)) return undefined;
  // The message is tried again, because its destination may be added to `destinations`.
  const cause = new DestinationRefused(
    "the destination of a message isn't in `destinations` for the operation of its commit",
  );
  return { result: { sent: false, code: cause.name }, cause };
}

/**
 * Returns `false` if another sender has already ended the commit.
 * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
 */
async function keepEnd(
  { settings: { outbox }, lines }: Sender,
  unsent: Unsent,
  end: CommitEnd,
  now: number,
  isTaken: boolean,
): Promise<boolean> {
  if (end.isOver) return outbox.markSent(unsent, end.progress);
  if (hasOwnRetry(unsent, end, lines.dueTimes(unsent))) lines.leaveForRetry(unsent);
  // Save the notes first: the next try depends on what other senders have written there.
  await lines.notes.save();
  const dueAt = dueAtOf(unsent, end, now, lines.dueTimes(unsent));
  if (isTaken || end.isNews || dueAt !== unsent.dueAt) await outbox.keep(unsent, end.progress, dueAt);
  return true;
}
