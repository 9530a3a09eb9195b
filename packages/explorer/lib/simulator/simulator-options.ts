/** A simulation's options: its seed, and its tables, queues and functions. */
import type { Quotas } from "./quotas.ts";

export interface SimulatorOptions {
  /**
   * Determines everything random: latencies, ids, jitter. The same seed gives the same run.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * Epoch ms.
   * @default 1700000000000
   */
  readonly startAt?: number | undefined;
  /**
   * How many seconds after its expiry an item is deleted.
   * @default - never, except by `dynamodb.sweep`
   */
  readonly ttlLagSeconds?: number | undefined;
  /**
   * How long a function's request and its response take together, in ms: a number, or a minimum and a maximum. The names
   * are services (`sqs`) or targets (a queue, a table).
   * @default - a few ms for AWS, up to 60 over HTTP
   */
  readonly latencyMs?: Readonly<Record<string, number | readonly [least: number, most: number]>> | undefined;
  /**
   * AWS's request limits.
   * @default - AWS's own
   */
  readonly quotas?: Quotas | undefined;
  /**
   * How many days of virtual time a run may last; a longer run fails.
   * @default 30
   */
  readonly maxDays?: number | undefined;
}

export interface KeyAttribute {
  readonly name: string;
  readonly type: "S" | "N" | "B";
}

export interface SimulatedIndex {
  /** Just a name means a string. */
  readonly partitionKey: string | KeyAttribute;
  readonly sortKey?: string | KeyAttribute | undefined;
  /** @default "ALL" */
  readonly projection?: "ALL" | "KEYS_ONLY" | readonly string[] | undefined;
}

export interface SimulatedTable {
  /** Just a name means a string. */
  readonly partitionKey: string | KeyAttribute;
  readonly sortKey?: string | KeyAttribute | undefined;
  /** The attribute that holds the expiry, in epoch seconds. */
  readonly ttl?: string | undefined;
  /** `true` is NEW_AND_OLD_IMAGES. */
  readonly stream?: boolean | "KEYS_ONLY" | "NEW_IMAGE" | "OLD_IMAGE" | "NEW_AND_OLD_IMAGES" | undefined;
  /** By name. */
  readonly indexes?: Readonly<Record<string, SimulatedIndex>> | undefined;
}

export interface SimulatedQueue {
  /** @default - whether the name ends in `.fifo` */
  readonly fifo?: boolean | undefined;
  /** @default 30 */
  readonly visibilitySeconds?: number | undefined;
  /** Its name or URL; it is created if it doesn't exist. */
  readonly deadLetter?: { readonly queue: string; readonly maxReceives: number } | undefined;
  /** @default false */
  readonly contentBasedDeduplication?: boolean | undefined;
  /** FIFO: deduplication and throughput for each message group. @default false */
  readonly perGroup?: boolean | undefined;
  /** @default 0 */
  readonly delaySeconds?: number | undefined;
  /** @default 345600 */
  readonly retentionSeconds?: number | undefined;
  /**
   * Standard queues: the share of receives that leave the message visible, from 0 to 0.9. The same share of
   * deletions leaves a copy, which comes back after the visibility timeout.
   * @default 0
   */
  readonly repeats?: number | undefined;
  /** Standard queues: whether messages arrive in a random order. @default false */
  readonly shuffles?: boolean | undefined;
}

export interface LambdaOptions {
  /** @default - `function-1`, and so on */
  readonly name?: string | undefined;
  /** In seconds. At most 5400, which only Managed Instances allow; for an environment's first invocation it includes the initialization. @default 30 */
  readonly timeoutSeconds?: number | undefined;
  /** How far its environments' clocks are ahead, in ms. @default 0 */
  readonly skewMs?: number | undefined;
  /** Like `skewMs`, but one value per environment, in turn. */
  readonly skewsMs?: readonly number[] | undefined;
  /** How many invocations run at the same time; any more wait. @default - no limit */
  readonly concurrency?: number | undefined;
}

export interface QueueConnection {
  readonly queueUrl: string;
  /** At most 10. @default 10 */
  readonly batchSize?: number | undefined;
  /** Whether the function's response names the failed messages. AWS's default is false. @default true */
  readonly reportsItemFailures?: boolean | undefined;
  /** How many batches run at the same time. @default 2 */
  readonly concurrency?: number | undefined;
}

export interface TableConnection {
  readonly tableName: string;
  /** @default 100 */
  readonly batchSize?: number | undefined;
  /**
   * Whether the function's response names the record at which it stopped. AWS's default is false. @default true
   */
  readonly reportsItemFailures?: boolean | undefined;
  /** Whether a failed batch is split. @default false */
  readonly bisect?: boolean | undefined;
  /** -1 retries until the records expire. @default -1 */
  readonly maxRetries?: number | undefined;
  /**
   * Patterns like those of `FilterCriteria`: the function only gets records that match one of them.
   * @default - all records
   */
  readonly filters?: readonly object[] | undefined;
}
