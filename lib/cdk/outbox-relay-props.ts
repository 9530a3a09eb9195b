// The properties of an OutboxRelay.
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
   * The queues, topics and event buses of the messages, at least one; `addDestination` adds more. A list is
   * for all operations. An object has a list for each operation, by its name, and other operations may send
   * nowhere. Then a role that may only write its own operation's records cannot send to another operation's
   * destinations.
   * @default - none yet
   */
  readonly destinations?: OutboxDestination[] | { readonly [operation: string]: OutboxDestination[] };

  /**
   * The number of shards of the index, 1 to 1000: at least as many as any store of the table has ever had.
   * Raise it here first, and in a later deployment in the table (`outboxShards`).
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
   * How often a failed batch is retried. The sweeper sends the messages that the relay gives up, after later
   * messages of their groups.
   * @default - for as long as the stream holds it, so that nothing overtakes it
   */
  readonly retryAttempts?: number;

  /**
   * The greatest age of a change that the relay still tries, 60 seconds to 24 hours.
   * @default - as old as the stream lets it be, which is 24 hours
   */
  readonly maxRecordAge?: Duration;

  /**
   * A standard queue that gets the stream positions of batches that the relay gave up.
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
