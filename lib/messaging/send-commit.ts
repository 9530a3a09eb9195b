/** Sends what a commit left to be sent, and keeps how far that got as soon as its own messages have come to their ends. */
import { SendFailedError } from "../core/errors.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type CommitEnd, dueAtOf, endOf, progressOf } from "./commit-end.ts";
import { type Circuits, Dispatch } from "./deliver.ts";
import { type Ended, NOT_ATTEMPTED, ON_HOLD } from "./destination-queue.ts";
import { DestinationRefused } from "./entry.ts";
import type { InvocationTime } from "./invocation-time.ts";
import type { OutboxCommitEvent, OutboxSettings } from "./outbox-options.ts";
import { faultOf } from "./stored-message.ts";
import { WaitingLines } from "./waiting-lines.ts";

/**
 * `sent`: all of it, and it is marked. `failed`: what was refused has its time for the next try, or is parked. `waiting`:
 * nothing of it was tried, behind others that failed. `again`: the invocation was over too early, or how far it got could
 * not be kept.
 */
export type CommitOutcome = "sent" | "failed" | "waiting" | "again";

export interface Sender {
  readonly settings: OutboxSettings;
  readonly dispatch: Dispatch;
  readonly lines: WaitingLines;
}

/** What fails once more is left to the sweeper. */
const REQUEST_TRIES = 2;

/** For one invocation. What is known of destinations outlives it. */
export function senderOf(settings: OutboxSettings, time: InvocationTime, circuits: Circuits): Sender {
  const { connections, rules, outbox, by, fence } = settings;
  const { hasMore: hasTime, requestTimeoutMs } = time;
  const sending = { ...rules, hasTime, requestTimeoutMs, requestTries: REQUEST_TRIES };
  return {
    settings,
    dispatch: new Dispatch(connections, sending, circuits),
    lines: new WaitingLines(outbox, rules.clock, by === "relay", fence),
  };
}

/** The messages that wait to be sent. */
export function waitingOf(unsent: Unsent): readonly StoredMessage[] {
  const progress = progressOf(unsent);
  return unsent.messages.filter((_, index) => progress[index]?.state === "waiting");
}

/**
 * Never rejects: what failed is told. `onEnded` is called once all messages have come to their ends, before that is kept.
 * `isTaken` where others leave the commit alone until it is given back.
 */
export function sendCommit(
  sender: Sender,
  unsent: Unsent,
  isTaken: boolean,
  onEnded: () => void = () => {},
): Promise<CommitOutcome> {
  const { dispatch, lines, settings } = sender;
  const ends: (Ended | undefined)[] = [];
  const waiting = [...progressOf(unsent).entries()].filter(([, { state }]) => state === "waiting");
  let left = waiting.length;
  if (left === 0) onEnded();
  if (left === 0) return keepEnds(sender, unsent, ends, isTaken);
  return new Promise((resolve) => {
    const end = (index: number, ended: Ended) => {
      ends[index] = ended;
      left -= 1;
      if (left > 0) return;
      onEnded();
      resolve(keepEnds(sender, unsent, ends, isTaken));
    };
    // Of a commit that comes again at once nothing is sent now: nobody would know that by then.
    const isOnHold = waiting.some(([index]) => lines.admits(unsent, unsent.messages[index]!) === "hold");
    for (const [index] of waiting) {
      const message = unsent.messages[index]!;
      const endSent = (ended: Ended) => {
        if (!ended.result.sent) lines.note(unsent, message, ended);
        end(index, ended);
      };
      const fault = isOnHold ? ON_HOLD : (faultOf(message) ?? refusalOf(unsent, message, settings));
      if (fault) end(index, fault);
      else if (lines.admits(unsent, message) === "wait") endSent(NOT_ATTEMPTED);
      else dispatch.send({ ...message, committedAt: unsent.committedAt }, endSent);
    }
  });
}

/** It is tried again, since `destinations` may come to name it. */
function refusalOf({ recordKey }: Unsent, message: StoredMessage, { fence }: OutboxSettings) {
  if (!fence || fence(recordKey, message)) return undefined;
  const cause = new DestinationRefused(
    "a message is for a destination that `destinations` does not name for the operation of its commit",
  );
  return { result: { sent: false, code: cause.name }, cause } as const;
}

async function keepEnds(
  { settings, lines }: Sender,
  unsent: Unsent,
  ends: readonly (Ended | undefined)[],
  isTaken: boolean,
): Promise<CommitOutcome> {
  const { outbox, rules, parking } = settings;
  const now = rules.clock.now();
  const end = endOf(unsent, ends, now, parking);
  try {
    if (end.isOver) await outbox.markSent(unsent, end.progress);
    else {
      // When it is due again follows from the notes, as others have left them: they must not see the one without the other.
      await lines.save();
      const dueAt = dueAtOf(unsent, end, now, (message) => lines.dueAt(unsent, message));
      if (isTaken || end.isNews || dueAt !== unsent.dueAt) await outbox.keep(unsent, end.progress, dueAt);
    }
  } catch (error) {
    tell(settings, "send-failed", unsent, ends.length, error);
    return "again";
  }
  tellEnd(settings, unsent, ends, end);
  if (end.isOver) return "sent";
  if (end.isCutShort) return "again";
  return end.hasFailed ? "failed" : "waiting";
}

function tellEnd(
  settings: OutboxSettings,
  unsent: Unsent,
  ends: readonly (Ended | undefined)[],
  { isOver, hasFailed, parked }: CommitEnd,
): void {
  if (isOver) {
    tell(settings, "sent", unsent, unsent.messages.length, undefined);
    return;
  }
  const all = ends.filter((ended) => ended !== undefined);
  const failed = all.filter(({ result }) => !result.sent).length;
  const cause = all.find((ended) => "cause" in ended)?.cause;
  const error = new SendFailedError(
    all.map(({ result }) => result),
    cause,
  );
  if (parked > 0) tell(settings, "parked", unsent, parked, error);
  // Where nothing was tried it waits behind others, of which that was told.
  if (failed > parked && hasFailed) tell(settings, "send-failed", unsent, failed - parked, error);
}

export function tell(
  { by, observe, rules }: OutboxSettings,
  event: OutboxCommitEvent["event"],
  { recordKey, committedAt }: Pick<Unsent, "recordKey" | "committedAt">,
  messages: number,
  error: unknown,
): void {
  const [operation = "", , keyHash = ""] = recordKey.split("#");
  const lagMs = rules.clock.now() - committedAt;
  try {
    observe({ event, by, operation, keyHash, messages, lagMs, error });
  } catch {
    // Watching does not change an outcome.
  }
}
