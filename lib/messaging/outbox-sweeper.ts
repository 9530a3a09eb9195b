/** The sweeper: a Lambda handler on a schedule that sends what the stream lost. */
import { OUTBOX_SHARDS } from "../contract.ts";
import { hasCode } from "../core/error-code.ts";
import { type Check, checkOptions } from "../core/option-checks.ts";
import type { Unsent } from "../core/outbox.ts";
import { BlockedLines } from "./blocked-lines.ts";
import { type TimedContext, timeOf } from "./invocation-time.ts";
import { OUTBOX_CHECKS, type OutboxOptions, type OutboxSettings, settingsOf } from "./outbox-options.ts";
import { COMMITS_AT_ONCE, sendUnsent, tell } from "./send-unsent.ts";

export interface OutboxSweeperOptions extends OutboxOptions {
  /**
   * How old a commit must be, in seconds: younger ones are left to the relay.
   * @default 60
   */
  readonly minAgeSeconds?: number;
}

const DEFAULT_MIN_AGE_SECONDS = 60;

const CHECKS: Readonly<Record<keyof OutboxSweeperOptions, Check>> = {
  ...OUTBOX_CHECKS,
  minAgeSeconds: [
    "must be a number of seconds from 1 to 86400",
    (value) => typeof value === "number" && value >= 1 && value <= 86_400,
  ],
};

/** What one sweep came to, in commits. */
export interface SweepReport {
  sent: number;
  failed: number;
  /** Left alone: something before them in one of their groups could not be sent. */
  waiting: number;
}

/**
 * A handler for a schedule, such as once a minute: sends messages that the relay has not sent, because the stream was
 * off, expired after its 24 hours, or dropped them. Finds them by the table's sparse index; a commit whose messages are
 * sent is not in it. What relay and sweeper both send is the same message under the same deduplication id.
 *
 * Commits whose first messages are of one group are sent oldest first, and what of them cannot be sent holds up the rest
 * of its groups. Those that share only a group of later messages may overtake each other. Where a commit cannot be read
 * the sweep of its shard ends; one that is corrupt is passed over, and loses its place.
 *
 * The function needs `dynamodb:Query` on the index, and on the table `dynamodb:GetItem`, `dynamodb:UpdateItem` and
 * `dynamodb:DeleteItem`, and the right to send to each destination.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws StoreUnavailableError (`STORE_UNAVAILABLE`)
 * when the index cannot be read.
 */
export function outboxSweeper(
  options: OutboxSweeperOptions,
): (event?: unknown, context?: TimedContext) => Promise<SweepReport> {
  checkOptions(options, CHECKS, ["outbox"]);
  const { minAgeSeconds = DEFAULT_MIN_AGE_SECONDS, ...others } = options;
  const settings = settingsOf("sweeper", others);
  return async function sweepHandler(_event, context) {
    const hasTime = timeOf(context);
    const before = settings.rules.clock.now() - minAgeSeconds * 1000;
    const report: SweepReport = { sent: 0, failed: 0, waiting: 0 };
    const shards = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard);
    const sweeps = shards.map((shard) => sweepShard(shard, before, hasTime, settings, report));
    // What still ran after the answer would be frozen with the process, and go on in another invocation.
    const failed = (await Promise.allSettled(sweeps)).find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    return report;
  };
}

async function sweepShard(
  shard: number,
  before: number,
  hasTime: () => boolean,
  settings: OutboxSettings,
  report: SweepReport,
): Promise<void> {
  const blocked = new BlockedLines();
  for await (const recordKeys of inChunks(settings.outbox.findUnsent(shard, before))) {
    if (!hasTime()) return;
    const found = await Promise.all(recordKeys.map((recordKey) => loadCommit(recordKey, before, settings)));
    const free: Unsent[] = [];
    let isCut = false;
    for (const commit of found) {
      if (commit === undefined) continue;
      if (commit === "unreachable") isCut = true;
      if (typeof commit === "string") report.failed++;
      else if (isCut || blocked.holdUp(commit)) report.waiting++;
      else free.push(commit);
    }
    const failed = await sendUnsent(free, settings);
    for (const commit of failed) blocked.block(commit);
    report.failed += failed.size;
    report.sent += free.length - failed.size;
    if (isCut) return;
  }
}

async function* inChunks(pages: AsyncIterable<readonly string[]>): AsyncGenerator<readonly string[]> {
  for await (const page of pages) {
    for (let start = 0; start < page.length; start += COMMITS_AT_ONCE) {
      yield page.slice(start, start + COMMITS_AT_ONCE);
    }
  }
}

/**
 * What could not be read now may be of any group: nothing behind it in its shard may overtake it. What can never be read
 * must not hold up the rest of the shard for ever.
 */
async function loadCommit(recordKey: string, before: number, settings: OutboxSettings) {
  try {
    return await settings.outbox.load(recordKey);
  } catch (error) {
    tell(settings, { recordKey, committedAt: before }, error);
    return hasCode(error, "RECORD_CORRUPT") ? "unreadable" : "unreachable";
  }
}
