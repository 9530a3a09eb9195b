/** Reports the outcome of messages and commits to `observe`. An observer that throws changes nothing. */
import { SendFailedError } from "../core/errors.ts";
import { namesOf } from "../core/identity.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import { readTraceparent } from "../core/traceparent.ts";
import { quietly } from "../core/unawaited.ts";
import { type CommitEnd, labelOf, progressOf } from "./commit-end.ts";
import type { SendEnd } from "./destination-queue.ts";
import type { OutboxBacklogEvent, OutboxCommitEvent, OutboxSettings } from "./outbox-options.ts";

/** Times are in epoch ms. */
export interface TimedEnd extends SendEnd {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Emits one event for each message with new progress. `isKept`: the progress is in the record. */
export function reportSends(
  { by, observe }: OutboxSettings,
  unsent: Unsent,
  ends: readonly (TimedEnd | undefined)[],
  { progress }: CommitEnd,
  isKept: boolean,
): void {
  if (!observe) return;
  const previous = progressOf(unsent);
  const names = namesIn(unsent);
  for (const [index, message] of unsent.messages.entries()) {
    const ended = ends[index];
    if (!ended || progress[index] === previous[index]) continue;
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

/** The lost response may belong to this sender's own write, so this may also be reported for a commit sent once. */
class SentTwice extends Error {
  override readonly name = "SentTwice";

  constructor() {
    super(
      "another relay or sweeper sent the messages of this commit too, so standard queues, topics and buses received them twice. If this keeps happening, look for a second relay on the table's stream, and remove it",
    );
  }
}

/** `isFirst` unless another sender has ended the commit before. */
export function reportEnd(
  settings: OutboxSettings,
  unsent: Unsent,
  ends: readonly (SendEnd | undefined)[],
  { isOver, hasFailed, parked }: CommitEnd,
  isFirst: boolean,
): void {
  const all = ends.filter((ended) => ended !== undefined);
  if (isOver) {
    const isTwice = isFirst === false && all.some(({ result }) => result.sent);
    reportCommit(settings, "sent", unsent, unsent.messages.length, isTwice ? new SentTwice() : undefined);
    return;
  }
  const failed = all.filter(({ result }) => !result.sent).length;
  const cause = all.find((ended) => "cause" in ended)?.cause;
  const error = new SendFailedError(
    all.map(({ result }) => result),
    cause,
  );
  if (parked > 0) reportCommit(settings, "parked", unsent, parked, error);
  // A commit whose messages weren't tried waits for others, whose failure was reported.
  if (failed > parked && hasFailed) reportCommit(settings, "send-failed", unsent, failed - parked, error);
}

/** Without an observer, errors go to the console. */
export function reportCommit(
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

/** A failure that can't be assigned to a commit. */
export function reportFailure(settings: OutboxSettings, error: unknown): void {
  reportCommit(settings, "send-failed", { recordKey: "", committedAt: settings.rules.clock.now() }, 0, error);
}

export function reportBacklog(
  { observe }: OutboxSettings,
  found: Pick<OutboxBacklogEvent, "waiting" | "oldestMs" | "parked">,
): void {
  quietly(() => observe?.({ event: "backlog", by: "sweeper", ...found }));
}

function namesIn({ recordKey }: Pick<Unsent, "recordKey">): Pick<OutboxCommitEvent, "operation" | "keyHash"> {
  const { operation, keyHash } = namesOf(recordKey);
  return { operation, keyHash };
}
