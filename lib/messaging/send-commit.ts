/** Sends the messages that a commit left, and keeps how far they got once they have come to their ends. */
import type { Clock, Random } from "../core/clock.ts";
import { remainingMsOf } from "../core/clock.ts";
import { SendFailedError } from "../core/errors.ts";
import { namesOf } from "../core/identity.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import type { Taking, Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { faultOf, readTraceparent } from "../core/messages/prepare-message.ts";
import { type CommitEnd, dueAtOf, endOf, INVALID, labelOf, ON_HOLD, progressOf } from "./commit-end.ts";
import { type Circuits, Dispatch } from "./connections.ts";
import { DestinationRefused, NOT_ATTEMPTED, type SendEnd } from "./destination-queue.ts";
import type { OutboxCommitEvent, OutboxSettings } from "./outbox-options.ts";
import { WaitingLines } from "./waiting-lines.ts";

/** How many commits a sender takes at once: a commit can have 4 MB of messages, and a function has little memory and time. */
export const COMMITS_AT_ONCE = 10;

interface InvocationTime {
  /** Whether there is time for one more request to a destination, and to keep how the request ended. */
  readonly hasMore: () => boolean;
  /** How long such a request may take. */
  readonly requestTimeoutMs: number;
  /** How this invocation takes a commit now. */
  readonly taking: () => Pick<Taking, "id" | "now" | "until">;
}

/** Kept for the end: a request that hangs, and then the write that keeps what was sent. */
const MAX_MARGIN_MS = 6000;
const MAX_REQUEST_MS = 4000;

/** How far the clocks of two hosts may differ. */
const SKEW_MS = 5000;

/** For a host that does not say how long an invocation may last. */
const UNKNOWN_MS = 300_000;

/** Shares out the time of an invocation. A short invocation has smaller shares, or it would never begin. */
function timeOf(context: TimedContext | undefined, clock: Clock, random: Random): InvocationTime {
  const remainingMs = () => remainingMsOf(context) ?? Number.POSITIVE_INFINITY;
  const atFirst = remainingMs();
  const id = random.token();
  const marginMs = Math.min(MAX_MARGIN_MS, atFirst / 4);
  return {
    hasMore: () => remainingMs() > marginMs,
    requestTimeoutMs: Math.min(MAX_REQUEST_MS, atFirst / 6),
    taking() {
      const now = clock.now();
      return { id, now, until: Math.ceil(now + Math.min(UNKNOWN_MS, remainingMs()) + SKEW_MS) };
    },
  };
}

/** Relay or sweeper, in one invocation. */
export interface Sender {
  readonly settings: OutboxSettings;
  readonly time: InvocationTime;
  readonly dispatch: Dispatch;
  readonly lines: WaitingLines;
}

/** A request that fails once more is left to the sweeper. */
const REQUEST_TRIES = 2;

/** The circuits outlive the invocation. */
export function senderOf(
  settings: OutboxSettings,
  context: TimedContext | undefined,
  circuits: Circuits,
): Sender {
  const { connections, rules, outbox, by, fence } = settings;
  const time = timeOf(context, rules.clock, rules.random);
  const { hasMore: hasTime, requestTimeoutMs } = time;
  const sending = { ...rules, hasTime, requestTimeoutMs, requestTries: REQUEST_TRIES };
  return {
    settings,
    time,
    dispatch: new Dispatch(connections, sending, circuits),
    lines: new WaitingLines(outbox, rules.clock, by === "relay", fence),
  };
}

/** The messages of a commit that wait to be sent. */
export function waitingOf(unsent: Unsent): readonly StoredMessage[] {
  const progress = progressOf(unsent);
  return unsent.messages.filter((_, index) => progress[index]?.state === "waiting");
}

/**
 * `sent`: all messages are sent, and the commit is marked. `failed`: refused messages have a time for their next try, or
 * are parked. `waiting`: nothing was tried, behind others that failed. `again`: the invocation was over too early, or how
 * far the messages got could not be kept.
 */
export type CommitOutcome = "sent" | "failed" | "waiting" | "again";

/**
 * Never rejects: failures are told. `onEnded` is called once all messages have come to their ends, before that is kept.
 * `isTaken` where others leave the commit alone until it is given back.
 */
export function sendCommit(
  sender: Sender,
  unsent: Unsent,
  isTaken: boolean,
  onEnded: () => void = () => {},
): Promise<CommitOutcome> {
  const { dispatch, lines, settings } = sender;
  const ends: (TimedEnd | undefined)[] = [];
  const { clock } = settings.rules;
  const startedAt = clock.now();
  const waiting = [...progressOf(unsent).entries()].filter(([, { state }]) => state === "waiting");
  let left = waiting.length;
  if (left === 0) onEnded();
  if (left === 0) return keepEnds(sender, unsent, ends, isTaken);
  return new Promise((resolve) => {
    const end = (index: number, ended: SendEnd) => {
      ends[index] = { ...ended, startedAt, endedAt: clock.now() };
      left -= 1;
      if (left > 0) return;
      onEnded();
      resolve(keepEnds(sender, unsent, ends, isTaken));
    };
    // A commit that comes again at once sends nothing now: nobody would know by then what was sent.
    const isOnHold = waiting.some(([index]) => lines.admits(unsent, unsent.messages[index]!) === "hold");
    for (const [index] of waiting) {
      const message = unsent.messages[index]!;
      const endSent = (ended: SendEnd) => {
        if (!ended.result.sent) lines.note(unsent, message, ended);
        end(index, ended);
      };
      const refusal = isOnHold ? ON_HOLD : refusalOf(unsent, message, settings);
      if (refusal) end(index, refusal);
      else if (lines.admits(unsent, message) === "wait") endSent(NOT_ATTEMPTED);
      else dispatch.send({ ...message, committedAt: unsent.committedAt }, endSent);
    }
  });
}

/** Times are in epoch ms. */
interface TimedEnd extends SendEnd {
  readonly startedAt: number;
  readonly endedAt: number;
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
  // The message is tried again, since `destinations` may come to name its destination.
  const cause = new DestinationRefused(
    "a message is for a destination that `destinations` does not name for the operation of its commit",
  );
  return { result: { sent: false, code: cause.name }, cause };
}

async function keepEnds(
  { settings, lines }: Sender,
  unsent: Unsent,
  ends: readonly (TimedEnd | undefined)[],
  isTaken: boolean,
): Promise<CommitOutcome> {
  const { outbox, rules, parking } = settings;
  const now = rules.clock.now();
  const end = endOf(unsent, ends, now, parking);
  let isFirst = true;
  try {
    if (end.isOver) isFirst = await outbox.markSent(unsent, end.progress);
    else {
      // The next time follows from the notes as others have left them: nobody must see the one without the other.
      await lines.save();
      const dueAt = dueAtOf(unsent, end, now, (message) => lines.dueAt(unsent, message));
      if (isTaken || end.isNews || dueAt !== unsent.dueAt) await outbox.keep(unsent, end.progress, dueAt);
    }
  } catch (error) {
    tellSends(settings, unsent, ends, end, false);
    tell(settings, "send-failed", unsent, ends.length, error);
    return "again";
  }
  tellSends(settings, unsent, ends, end, true);
  const isTwice = isFirst === false && ends.some((ended) => ended?.result.sent);
  tellEnd(settings, unsent, ends, end, isTwice ? new SentTwice() : undefined);
  if (end.isOver) return "sent";
  if (end.isCutShort) return "again";
  return end.hasFailed ? "failed" : "waiting";
}

/** A message of which nothing is known that was not known before was not tried. `isKept`: the record says how far it is. */
function tellSends(
  { by, observe }: OutboxSettings,
  unsent: Unsent,
  ends: readonly (TimedEnd | undefined)[],
  { progress }: CommitEnd,
  isKept: boolean,
): void {
  if (!observe) return;
  const former = progressOf(unsent);
  const names = namesIn(unsent);
  for (const [index, message] of unsent.messages.entries()) {
    const ended = ends[index];
    if (!ended || progress[index] === former[index]) continue;
    const { result, startedAt, endedAt } = ended;
    const isParked = isKept && progress[index]?.state === "parked";
    quietly(() =>
      observe({
        event: "send",
        by,
        ...names,
        outcome: result.sent ? "sent" : isParked ? "parked" : "send-failed",
        to: labelOf(message),
        traceparent: readTraceparent(Object(message).traceparent),
        durationMs: endedAt - startedAt,
        endedAt,
        code: result.sent ? undefined : result.code,
      }),
    );
  }
}

function namesIn({ recordKey }: Pick<Unsent, "recordKey">): Pick<OutboxCommitEvent, "operation" | "keyHash"> {
  const { operation, keyHash } = namesOf(recordKey);
  return { operation, keyHash };
}

/** An observer does not change an outcome. */
function quietly(told: () => void): void {
  try {
    told();
  } catch {
    // As promised.
  }
}

/** A lost answer of the write that marks looks the same. */
class SentTwice extends Error {
  override readonly name = "SentTwice";

  constructor() {
    super(
      "another relay or sweeper has sent the messages of this commit too, so standard queues, topics and buses got them twice. If this goes on, look for a second relay that reads the table's stream, and remove one",
    );
  }
}

function tellEnd(
  settings: OutboxSettings,
  unsent: Unsent,
  ends: readonly (SendEnd | undefined)[],
  { isOver, hasFailed, parked }: CommitEnd,
  twice: SentTwice | undefined,
): void {
  if (isOver) {
    tell(settings, "sent", unsent, unsent.messages.length, twice);
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
  // A commit of which nothing was tried waits behind others, whose failure was told.
  if (failed > parked && hasFailed) tell(settings, "send-failed", unsent, failed - parked, error);
}

export function tell(
  { by, observe, rules }: OutboxSettings,
  event: OutboxCommitEvent["event"],
  commit: Pick<Unsent, "recordKey" | "committedAt">,
  messages: number,
  error: unknown,
): void {
  const names = namesIn(commit);
  const lagMs = rules.clock.now() - commit.committedAt;
  quietly(() => {
    if (observe) observe({ event, by, ...names, messages, lagMs, error });
    else if (error !== undefined) console.error(error);
  });
}
