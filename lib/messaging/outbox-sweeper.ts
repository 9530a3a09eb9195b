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
   * its next try. 0 where there is no relay, as with a `PostgresOutbox`.
   * @default 60
   */
  readonly minAgeSeconds?: number;
}

const DEFAULT_MIN_AGE_SECONDS = 60;

const CHECKS: Readonly<Record<keyof OutboxSweeperOptions, Check>> = {
  ...OUTBOX_CHECKS,
  minAgeSeconds: [
    "must be a number of seconds from 0 to 86400",
    (value) => typeof value === "number" && value >= 0 && value <= 86_400,
  ],
};

/**
 * A handler for a schedule, such as once a minute. It sends messages that the relay has not sent, because the stream was
 * off, expired after its 24 hours, or dropped them. It tries failed messages again. It finds both by the table's sparse
 * index, which holds no commit whose messages are sent. Relay and sweeper send a message under the same deduplication id.
 *
 * Commits whose first messages are of one group are sent oldest first. A message that cannot be sent holds up the later
 * messages of its group, and nothing else. Commits that share only a group of later messages may overtake each other. A
 * failed message is tried at intervals that double up to a quarter of an hour, and is parked in the end. A destination that
 * does not answer, or refuses request after request, is not asked for a while. Where a commit cannot be read the sweep of
 * its shard ends; a corrupt commit is parked.
 *
 * Each sweep tells how many commits wait, and since when, and how many are parked (`backlog`).
 *
 * The function needs `dynamodb:Query` on the index, and on the table `dynamodb:GetItem`, `dynamodb:UpdateItem` and
 * `dynamodb:DeleteItem`, and the right to send to each destination.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. The handler throws StoreUnavailableError (`STORE_UNAVAILABLE`)
 * when the index cannot be read, and PayloadInvalidError (`PAYLOAD_INVALID`) for changes of a stream, which the relay takes.
 */
export function outboxSweeper(
  options: OutboxSweeperOptions,
): (event?: unknown, context?: TimedContext) => Promise<SweepReport> {
  checkOptions(options, CHECKS, ["outbox"]);
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

/** A sweeper in the place of the relay would send everything late, without any error. */
function refuseStream(event: unknown): void {
  const { Records } = Object(event) as { readonly Records?: readonly unknown[] };
  if (!Array.isArray(Records) || Object(Records[0]).eventSource !== STREAM_SOURCE) return;
  throw new PayloadInvalidError(
    "the event is of a stream: give outboxSweeper a schedule, and outboxRelay the stream of the table",
  );
}

async function countBacklog({ outbox, rules }: OutboxSettings, oldest: OldestWaiting) {
  const [{ waiting, parked }, committedAt] = await Promise.all([outbox.count(), oldest.committedAt()]);
  const oldestMs = committedAt === undefined ? 0 : rules.clock.now() - committedAt;
  return { waiting, oldestMs, parked };
}
