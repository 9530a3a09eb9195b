/** What a try came to: how far the messages of a commit are now, and when it is to be tried again. Pure. */
import { parseAddress } from "../core/messages/address.ts";
import { type MessageProgress, UNTRIED, type Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { DESTINATION_KINDS } from "./connections.ts";
import { type Ended, INVALID, NOT_ATTEMPTED, ON_HOLD, OUT_OF_TIME } from "./destination-queue.ts";
import { delayAfter, MAX_DELAY_MS } from "./line-notes.ts";

export interface ParkingRules {
  readonly parkAfterTries: number;
  readonly parkAfterSeconds: number;
}

export interface CommitEnd {
  readonly progress: readonly MessageProgress[];
  /** Nothing waits, and nothing is parked. */
  readonly isOver: boolean;
  /** Nobody else has to look after what is left: the invocation was over too early. */
  readonly isCutShort: boolean;
  /** Whether it says more than was known before. */
  readonly isNews: boolean;
  /** Messages were refused, or nobody knows. */
  readonly hasFailed: boolean;
  /** How many messages have been parked by this. */
  readonly parked: number;
}

/** `ends` are in the order of the messages; none for those that did not wait. */
export function endOf(
  unsent: Unsent,
  ends: readonly (Ended | undefined)[],
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

/**
 * When what is left is due again (epoch ms). `lineDueAt` says it of a message that waits in a line.
 */
export function dueAtOf(
  unsent: Unsent,
  { progress, isCutShort }: CommitEnd,
  now: number,
  lineDueAt: (message: StoredMessage) => number | undefined,
): number {
  if (isCutShort) return unsent.dueAt;
  const former = progressOf(unsent);
  const dueAt = progress.flatMap((each, index) => {
    if (each.state !== "waiting") return [];
    // What was not even tried keeps its place among the others.
    const ownDueAt = each === former[index] ? unsent.dueAt : now + delayAfter(each.tries);
    return lineDueAt(unsent.messages[index]!) ?? ownDueAt;
  });
  return Math.min(...dueAt, now + MAX_DELAY_MS);
}

function isNotNow(ended: Ended | undefined): boolean {
  return ended?.result === OUT_OF_TIME.result || ended?.result === ON_HOLD.result;
}

/** Of each of its messages. */
export function progressOf({ messages, progress }: Unsent): readonly MessageProgress[] {
  return progress ?? messages.map(() => UNTRIED);
}

function progressAfter(
  former: MessageProgress,
  ended: Ended,
  message: StoredMessage,
  at: number,
  isOld: boolean,
  { parkAfterTries }: ParkingRules,
): MessageProgress {
  const { result } = ended;
  if (isNotNow(ended)) return former;
  if (result.sent) return { state: "sent", tries: former.tries + 1, at, to: labelOf(message) };
  const { code } = result;
  // One that is behind another of its line was not meant; where all of a destination failed, each was.
  const wasTried = result !== NOT_ATTEMPTED.result || "cause" in ended;
  const tries = former.tries + Number(wasTried);
  // What somebody has sent again is tried once at least, however long it waits in its line.
  const isAskedFor = tries === 0 && former.at !== undefined;
  const isParked =
    (isOld && !isAskedFor) || result === INVALID.result || (wasTried && tries >= parkAfterTries);
  if (isParked) return { state: "parked", tries, at, code };
  return wasTried ? { state: "waiting", tries, at, code } : former;
}

/** The kind of a destination, and its name without account and Region. */
function labelOf(message: StoredMessage): string {
  const kind = DESTINATION_KINDS.find((each) => message[each] !== undefined)!;
  // It is an address: else nothing would have been sent there.
  return `${kind}/${parseAddress(kind, message[kind])!.text.split(/[/:]/).at(-1)}`;
}
