/** Works out how far the messages of a commit got in a try, and when the commit is tried again. Pure. */
import { ADDRESS_KINDS, parseAddress } from "../core/messages/address.ts";
import { type MessageProgress, UNTRIED, type Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { NOT_ATTEMPTED, OUT_OF_TIME, type SendEnd } from "./destination-queue.ts";
import { markedPlace } from "./line-notes.ts";
import { MAX_RETRY_DELAY_MS, retryDelayMs } from "./retry-delay.ts";

/** The sweeper is about to finish a line of the commit. */
export const ON_HOLD: SendEnd = { result: { sent: false, code: "OnHold" } };

/** No destination would accept the message, so none is tried. */
export const INVALID: SendEnd = { result: { sent: false, code: "MessageInvalid" } };

export interface ParkingRules {
  readonly parkAfterTries: number;
  readonly parkAfterSeconds: number;
}

export interface CommitEnd {
  readonly progress: readonly MessageProgress[];
  /** No message waits or is parked. */
  readonly isOver: boolean;
  /** The invocation ended too early: the next one continues. */
  readonly isCutShort: boolean;
  /** Whether the progress contains anything new. */
  readonly isNews: boolean;
  /** Messages were refused, or it is unknown whether they arrived. */
  readonly hasFailed: boolean;
  /** How many messages this try has parked. */
  readonly parked: number;
}

/** `ends` are in the order of the messages, with none for messages that weren't waiting. */
export function endOf(
  unsent: Unsent,
  ends: readonly (SendEnd | undefined)[],
  now: number,
  rules: ParkingRules,
): CommitEnd {
  const former = progressOf(unsent);
  const isOld = now - unsent.committedAt >= rules.parkAfterSeconds * 1000;
  const progress = former.map((each, index) => {
    const ended = ends[index];
    return ended ? progressAfter(each, ended, unsent.messages[index]!, now, isOld, rules) : each;
  });
  return {
    progress,
    isOver: progress.every(({ state }) => state === "sent" || state === "dropped"),
    isCutShort: ends.some(isNotNow),
    isNews: progress.some((each, index) => each !== former[index]),
    hasFailed: progress.some((each, index) => each.state !== "sent" && each !== former[index]),
    parked: progress.filter(({ state }, index) => state === "parked" && ends[index]).length,
  };
}

/** When the commit is due again (epoch ms). `lineDueTimes` has the time of each message that waits in a line. */
export function dueAtOf(
  unsent: Unsent,
  { progress, isCutShort }: CommitEnd,
  now: number,
  lineDueTimes: readonly (number | undefined)[],
): number {
  if (isCutShort) return unsent.dueAt;
  const former = progressOf(unsent);
  const waiting = [...progress.keys()].filter((index) => progress[index]!.state === "waiting");
  const dueAt = waiting.map((index) => {
    const each = progress[index]!;
    // A message that wasn't tried keeps its place among the others.
    const ownDueAt = each === former[index] ? unsent.dueAt : now + retryDelayMs(each.tries);
    return lineDueTimes[index] ?? ownDueAt;
  });
  const isOnlyInLines = waiting.length > 0 && waiting.every((index) => lineDueTimes[index] !== undefined);
  const earliest = Math.min(...dueAt, now + MAX_RETRY_DELAY_MS);
  return isOnlyInLines ? markedPlace(earliest) : earliest;
}

/** Whether a message that waits for no line has a retry time, and another message waits for a line. */
export function hasOwnRetry(
  unsent: Unsent,
  { progress }: CommitEnd,
  lineDueTimes: readonly (number | undefined)[],
): boolean {
  const former = progressOf(unsent);
  const waits = (index: number) => progress[index]!.state === "waiting";
  const isRetried = (each: MessageProgress, index: number) =>
    waits(index) && lineDueTimes[index] === undefined && each !== former[index];
  return progress.some(isRetried) && lineDueTimes.some((at, index) => at !== undefined && waits(index));
}

function isNotNow(ended: SendEnd | undefined): boolean {
  return ended?.result === OUT_OF_TIME.result || ended?.result === ON_HOLD.result;
}

/** How far each message of a commit is. */
export function progressOf({ messages, progress }: Unsent): readonly MessageProgress[] {
  return progress ?? messages.map(() => UNTRIED);
}

/** The messages of a commit that wait to be sent. */
export function waitingMessages(unsent: Unsent): readonly StoredMessage[] {
  const progress = progressOf(unsent);
  return unsent.messages.filter((_, index) => progress[index]?.state === "waiting");
}

function progressAfter(
  former: MessageProgress,
  ended: SendEnd,
  message: StoredMessage,
  at: number,
  isOld: boolean,
  { parkAfterTries }: ParkingRules,
): MessageProgress {
  const { result } = ended;
  if (isNotNow(ended)) return former;
  if (result.sent) return { state: "sent", tries: former.tries + 1, at, to: labelOf(message) };
  const { code } = result;
  // A message after another one of its line wasn't tried. If a destination failed as a whole, every message counts as
  // tried.
  const wasTried = result !== NOT_ATTEMPTED.result || "cause" in ended;
  const tries = former.tries + Number(wasTried);
  // A message that an operator sent again is tried at least once, however long it waits in its line.
  const isAskedFor = tries === 0 && former.at !== undefined;
  const isParked =
    (isOld && !isAskedFor) || result === INVALID.result || (wasTried && tries >= parkAfterTries);
  if (isParked) return { state: "parked", tries, at, code };
  return wasTried ? { state: "waiting", tries, at, code } : former;
}

/** The destination's kind and its name without account and Region; `undefined` if the message has no address. */
export function labelOf(message: StoredMessage): string | undefined {
  const kind = ADDRESS_KINDS.find((each) => Object(message)[each] !== undefined);
  const address = kind && parseAddress(kind, message[kind]);
  return address && `${kind}/${address.text.split(/[/:]/).at(-1)}`;
}
