/** How long a consumer remembers a message, and what happens to a message that is older. */
import { shared } from "./copies.ts";
import type { CallInput } from "./ongoing-call.ts";
import type { EngineOptions } from "./options.ts";
import type { ResolvedOptions } from "./resolved-options.ts";

/**
 * 35 days: three in an outbox, 14 in a queue, 14 in its dead-letter queue, and four until an operator redrives them.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
 */
export const MESSAGE_DEFAULTS = { retentionSeconds: 3_024_000 };

/** The part of a call that depends on a message's age. */
interface AgedCall<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly about: Pick<CallInput, "usedSince">;
}

/**
 * A message that was committed longer ago than its consumer remembers may have been handled already, and the record may be gone.
 * So it's refused if there is no record, unless the user chose `whenKeyExpired`.
 * @param committedAt as the envelope says (epoch ms)
 */
export function agedCall<Write>(
  options: ResolvedOptions<Write>,
  committedAt: number | undefined,
  { whenKeyExpired }: Pick<EngineOptions, "whenKeyExpired">,
): AgedCall<Write> {
  if (committedAt === undefined) return { options, about: {} };
  const { retentionSeconds, clockSkewSeconds, clock } = options;
  const usedSince = committedAt - clockSkewSeconds * 1000;
  const isForgotten = usedSince + retentionSeconds * 1000 <= clock.now();
  const refuses = isForgotten && whenKeyExpired === undefined;
  return { options: refuses ? { ...options, whenKeyExpired: "reject" } : options, about: { usedSince } };
}

type CommitTimeReader = (event: never) => number | undefined;

const readers = () => shared("commit-times", () => new WeakMap<object, CommitTimeReader>());

/** Marks a key reader for single messages with a function that reads the commit time. */
export function withCommitTime<KeyReader extends object>(key: KeyReader, read: CommitTimeReader): KeyReader {
  readers().set(key, read);
  return key;
}

/** `undefined` for a key reader that doesn't read messages. */
export function commitTimeReader(key: unknown): CommitTimeReader | undefined {
  return typeof key === "function" ? readers().get(key) : undefined;
}
