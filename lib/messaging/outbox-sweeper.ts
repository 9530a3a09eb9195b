/** The sweeper: a Lambda handler on a schedule that sends messages that the stream lost, and tries failed ones again. */
import { PayloadInvalidError } from "../core/errors.ts";
import type { TimedContext } from "../core/lambda-context.ts";
import { type Check, checkOptions } from "../core/option-checks.ts";
import { Turn } from "../core/turn.ts";
import type { Circuits } from "./connections.ts";
import { liftLines } from "./lift-lines.ts";
import { OldestWaiting } from "./oldest-waiting.ts";
import { OUTBOX_CHECKS, type OutboxOptions, type OutboxSettings, settingsOf } from "./outbox-options.ts";
import { STREAM_SOURCE } from "./outbox-relay.ts";
import { reportBacklog } from "./report-sends.ts";
import { senderOf } from "./sender.ts";
import { type Sweep, type SweepReport, sweepShards } from "./sweep-shards.ts";

export interface OutboxSweeperOptions extends OutboxOptions {
  /**
   * How old a commit must be, in seconds: younger ones are left to the relay. A failed message waits at least as long for
   * its next try. Set 0 if there is no relay, as with a `PostgresOutbox`.
   * @default 60
   */
  readonly minAgeSeconds?: number;
}

const DEFAULT_MIN_AGE_SECONDS = 60;

const CHECKS: Readonly<Record<keyof OutboxSweeperOptions, Check>> = {
  ...OUTBOX_CHECKS,
  minAgeSeconds: [
    "must be a number of seconds between 0 and 86400",
    (value) => typeof value === "number" && value >= 0 && value <= 86_400,
  ],
};

/**
 * Creates a handler for a schedule, such as once a minute. It sends messages that the relay hasn't sent, because the
 * stream was off, expired after its 24 hours, or dropped them. It also retries failed messages. It finds both in the
 * table's sparse index, which contains only commits with unsent messages. Relay and sweeper send a message under the same
 * deduplication id.
 *
 * Commits whose first messages are in one group are sent oldest first. A message that can't be sent holds up the later
 * messages of its group, and nothing else. Commits that share only a group of later messages may overtake each other. A
 * failed message is tried at intervals that double up to a quarter of an hour, and is finally parked. A destination that
 * doesn't respond, or refuses request after request, is skipped for a while. If a commit can't be read, the sweep of its
 * shard ends; a corrupt commit is parked.
 *
 * Each sweep reports how many commits wait, since when, and how many are parked (`backlog`).
 *
 * The function needs `dynamodb:Query` on the index, and on the table `dynamodb:GetItem`, `dynamodb:UpdateItem` and
 * `dynamodb:DeleteItem`, and permission to send to each destination.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. The handler throws StoreUnavailableError
 * (`STORE_UNAVAILABLE`) if the index can't be read, and PayloadInvalidError (`PAYLOAD_INVALID`) for changes of a stream,
 * which belong to the relay.
 */
export function outboxSweeper(
  options: OutboxSweeperOptions,
): (event?: unknown, context?: TimedContext) => Promise<SweepReport> {
  checkOptions(options, CHECKS, ["outbox", "destinations"]);
  const { minAgeSeconds = DEFAULT_MIN_AGE_SECONDS, ...others } = options;
  const settings = settingsOf("sweeper", others);
  const { clock } = settings.rules;
  const circuits: Circuits = new Map();
  const oldest = new OldestWaiting(settings.outbox);
  return async function sweepHandler(event, context) {
    refuseStream(event);
    const sender = senderOf(settings, context, circuits);
    const before = clock.now() - minAgeSeconds * 1000;
    const report: SweepReport = { sent: 0, failed: 0, waiting: 0 };
    const turn = new Turn((lease) => settings.outbox.leaseSweep(lease), clock, sender.time.taking);
    if (!(await turn.isMine())) return report;
    try {
      const sweep: Sweep = { sender, before, report, oldest, turn };
      await sender.lines.notes.read();
      const shards = Array.from({ length: settings.outbox.shards }, (_, shard) => shard);
      await sweepShards(shards, sweep);
      if (await turn.isMine()) await liftLines(sweep);
      reportBacklog(settings, await countBacklog(settings, oldest));
    } finally {
      await turn.end();
    }
    return report;
  };
}

/** A sweeper deployed in place of the relay would send everything late, without any error. */
function refuseStream(event: unknown): void {
  const { Records } = Object(event) as { readonly Records?: readonly unknown[] };
  if (!Array.isArray(Records) || Object(Records[0]).eventSource !== STREAM_SOURCE) return;
  throw new PayloadInvalidError(
    "the event comes from a stream: run outboxSweeper on a schedule, and connect outboxRelay to the table's stream",
  );
}

async function countBacklog({ outbox, rules }: OutboxSettings, oldest: OldestWaiting) {
  const [{ waiting, parked }, committedAt] = await Promise.all([outbox.count(), oldest.committedAt()]);
  const oldestMs = committedAt === undefined ? 0 : rules.clock.now() - committedAt;
  return { waiting, oldestMs, parked };
}
