/** Sends what commits left to be sent, in their order, and marks each commit all of whose messages were accepted. */
import { SendFailedError } from "../core/errors.ts";
import type { Unsent } from "../core/outbox.ts";
import { deliver } from "./deliver.ts";
import type { OutboxCommitEvent, OutboxSettings } from "./outbox-options.ts";

/**
 * How many commits the relay, and of each shard the sweeper, may send at once: one can have 4 MB of messages, and a function
 * has little memory and time. What is marked counts, also when the invocation then times out.
 */
export const COMMITS_AT_ONCE = 10;

/** The commits that were not sent and marked. Never throws: what failed is told, and is there to be sent again. */
export async function sendUnsent(
  commits: readonly Unsent[],
  settings: OutboxSettings,
): Promise<ReadonlySet<Unsent>> {
  const { outbox, connections, rules } = settings;
  const { results, cause } = await deliver(
    commits.flatMap(({ messages, committedAt }) => messages.map((each) => ({ ...each, committedAt }))),
    connections,
    rules,
  );
  const failed = new Set<Unsent>();
  let position = 0;
  const ends = commits.map((commit) => {
    const own = results.slice(position, position + commit.messages.length);
    position += commit.messages.length;
    return { commit, own };
  });

  async function endCommit({ commit, own }: (typeof ends)[number]): Promise<void> {
    try {
      if (own.some(({ sent }) => !sent)) throw new SendFailedError(own, cause);
      await outbox.markSent(commit);
      tell(settings, commit, undefined);
    } catch (error) {
      failed.add(commit);
      tell(settings, commit, error);
    }
  }
  await Promise.all(ends.map(endCommit));
  return failed;
}

export function tell(
  { by, observe, rules }: OutboxSettings,
  { recordKey, committedAt, messages = [] }: Pick<Unsent, "recordKey" | "committedAt"> & Partial<Unsent>,
  error: unknown,
): void {
  const [operation = "", , keyHash = ""] = recordKey.split("#");
  const event: OutboxCommitEvent["event"] = error === undefined ? "sent" : "send-failed";
  const lagMs = rules.clock.now() - committedAt;
  try {
    observe({ event, by, operation, keyHash, messages: messages.length, lagMs, error });
  } catch {
    // Watching does not change an outcome.
  }
}
