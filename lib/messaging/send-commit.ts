/** Sends the messages that a commit left, from the first check to the last report. */
import type { Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { faultOf } from "../core/messages/prepare-message.ts";
import { type CommitEnd, dueAtOf, endOf, INVALID, ON_HOLD, progressOf } from "./commit-end.ts";
import { DestinationRefused, type SendEnd } from "./destination-queue.ts";
import type { OutboxSettings } from "./outbox-options.ts";
import { reportCommit, reportEnd, reportSends, type TimedEnd } from "./report-sends.ts";
import type { Sender } from "./sender.ts";

/**
 * `sent`: all messages are sent, and the commit is marked. `failed`: refused messages have a time for their next try, or
 * are parked. `waiting`: nothing was tried, behind others that failed. `again`: the invocation was over too early, or how
 * far the messages got could not be kept.
 */
export type CommitOutcome = "sent" | "failed" | "waiting" | "again";

/**
 * Never rejects: failures are reported. `onEnded` is called once all messages have come to their ends, before that is kept.
 * `isTaken` if other senders leave the commit alone until it is given back.
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

/** Resolves once all waiting messages have come to their ends; the others have none. */
function sendMessages(sender: Sender, unsent: Unsent): Promise<readonly (TimedEnd | undefined)[]> {
  const { dispatch, lines, settings } = sender;
  const { clock } = settings.rules;
  const startedAt = clock.now();
  const ends: (TimedEnd | undefined)[] = [];
  // All or none: a commit that comes back in a moment must not have to say by then what it has sent.
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

/** A message of a later version is left to that version. */
const UNKNOWN: SendEnd = { result: { sent: false, code: "MessageUnknown" } };

function refusalOf(
  { recordKey }: Unsent,
  message: StoredMessage,
  { fence }: OutboxSettings,
): SendEnd | undefined {
  const fault = faultOf(message);
  if (fault) return fault === "MessageInvalid" ? INVALID : UNKNOWN;
  if (!fence || fence(recordKey, message)) return undefined;
  // The message is tried again, since its destination may be added to `destinations`.
  const cause = new DestinationRefused(
    "a message is for a destination that `destinations` does not name for the operation of its commit",
  );
  return { result: { sent: false, code: cause.name }, cause };
}

/**
 * Answers `false` if another sender has ended the commit before.
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
  // The next time follows from the notes as other senders have left them, so the notes are saved first.
  await lines.notes.save();
  const dueAt = dueAtOf(unsent, end, now, lines.dueTimes(unsent));
  if (isTaken || end.isNews || dueAt !== unsent.dueAt) await outbox.keep(unsent, end.progress, dueAt);
  return true;
}
