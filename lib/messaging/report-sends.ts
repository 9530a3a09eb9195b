/** Reports to `observe` what became of messages and commits. An observer that throws changes nothing. */
import { SendFailedError } from "../core/errors.ts";
import { namesOf } from "../core/identity.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import { readTraceparent } from "../core/traceparent.ts";
import { type CommitEnd, labelOf, progressOf } from "./commit-end.ts";
import type { SendEnd } from "./destination-queue.ts";
import type { OutboxBacklogEvent, OutboxCommitEvent, OutboxSettings } from "./outbox-options.ts";

/** Times are in epoch ms. */
export interface TimedEnd extends SendEnd {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** One event for each message of which more is known than before. `isKept`: the record says how far it is. */
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

/** The answer that got lost may have been that of the own write, so this can also be said of a commit sent once. */
class SentTwice extends Error {
  override readonly name = "SentTwice";

  constructor() {
    super(
      "another relay or sweeper has sent the messages of this commit too, so standard queues, topics and buses got them twice. If this goes on, look for a second relay that reads the table's stream, and remove one",
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
  // A commit whose messages were not tried waits for others, whose failure was reported.
  if (failed > parked && hasFailed) reportCommit(settings, "send-failed", unsent, failed - parked, error);
}

/** Without an observer the console gets the errors. */
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

/** A failure that concerns no commit that can be named. */
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

function quietly(report: () => void): void {
  try {
    report();
  } catch {
    // As promised.
  }
}
