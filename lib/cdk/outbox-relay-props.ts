// What an OutboxRelay is made of. It may touch aws-cdk-lib only.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IIdempotencyTable } from "./idempotency-table-base.ts";
import type { OutboxDestination } from "./outbox-destination.ts";

/** Properties of an {@link OutboxRelay}. */
export interface OutboxRelayProps {
  /** The table whose operations commit messages: with `outbox: true`. */
  readonly table: IIdempotencyTable;

  /**
   * The queues, topics and event buses that messages are for; `addDestination` adds more. One at least. A list is for all
   * operations; an object has a list for each operation, by its name, and others may send nowhere. Then a role that may
   * only write the records of its own operation cannot have anything sent where another one sends.
   *
   * @default - none yet
   */
  readonly destinations?: OutboxDestination[] | { readonly [operation: string]: OutboxDestination[] };

  /**
   * Into how many shards commits that wait are divided in the index, 1 to 1000: as many as any store of the table has ever
   * had. Raise it here first, and in a later deployment in the table (`outboxShards`).
   *
   * @default - `outboxShards` of the table
   */
  readonly shards?: number;

  /**
   * How many changes of the table the relay gets at once at most, 1 to 10000.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How often a batch is tried again that fails. What the relay gives up is sent by the sweeper, after what follows it in
   * its group.
   *
   * @default - for as long as the stream holds it, so that nothing overtakes it
   */
  readonly retryAttempts?: number;

  /**
   * How old a change may be that the relay still tries, 60 seconds to 24 hours.
   *
   * @default - as old as the stream lets it be, which is 24 hours
   */
  readonly maxRecordAge?: Duration;

  /**
   * A standard queue that is told where in the stream the batches are that the relay gave up.
   *
   * @default - nobody is told; the sweeper sends their messages all the same
   */
  readonly onFailureQueue?: IQueue;

  /**
   * How often the sweeper looks for messages that the stream has lost.
   *
   * @default Duration.minutes(1)
   */
  readonly sweepInterval?: Duration;

  /**
   * The timeout of relay and sweeper.
   *
   * @default Duration.seconds(30)
   */
  readonly timeout?: Duration;

  /**
   * The memory of relay and sweeper, in MiB.
   *
   * @default 512
   */
  readonly memorySize?: number;

  /**
   * The dimension `service` of their metrics: give `IdempotencyMonitoring` the same.
   *
   * @default "onceonly"
   */
  readonly service?: string;

  /**
   * The namespace of their metrics: give `IdempotencyMonitoring` the same.
   *
   * @default "Onceonly"
   */
  readonly namespace?: string;

  /**
   * How long their logs are kept.
   *
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;

  /**
   * What happens to their logs when they leave the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly logRemovalPolicy?: RemovalPolicy;
}

export const RELAY_DEFAULTS = {
  batchSize: 100,
  sweepInterval: Duration.minutes(1),
  timeout: Duration.seconds(30),
  memorySize: 512,
  logRetention: RetentionDays.ONE_MONTH,
  logRemovalPolicy: RemovalPolicy.RETAIN,
} as const;

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html */
export const STREAM_RETENTION = Duration.hours(24);
