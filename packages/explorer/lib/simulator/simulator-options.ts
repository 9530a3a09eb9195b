/** Options of a simulation: its seed, and its tables, queues and functions. */
import type { Quotas } from "./quotas.ts";

export interface SimulatorOptions {
  /**
   * Decides everything random: latencies, ids, jitter. The same seed gives the same run.
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
   * The time of a function's request with its answer, in ms: a number, or the least and the most. The names
   * are services (`sqs`) or targets (a queue, a table).
   * @default - a few ms for AWS, up to 60 over HTTP
   */
  readonly latencyMs?: Readonly<Record<string, number | readonly [least: number, most: number]>> | undefined;
  /**
   * AWS's limits for requests.
   * @default - AWS's own
   */
  readonly quotas?: Quotas | undefined;
  /**
   * How many days of virtual time a run may take; a longer run fails.
   * @default 30
   */
  readonly maxDays?: number | undefined;
}

export interface KeyAttribute {
  readonly name: string;
  readonly type: "S" | "N" | "B";
}

export interface SimulatedIndex {
  /** A name alone stands for a string. */
  readonly partitionKey: string | KeyAttribute;
  readonly sortKey?: string | KeyAttribute | undefined;
  /** @default "ALL" */
  readonly projection?: "ALL" | "KEYS_ONLY" | readonly string[] | undefined;
}

export interface SimulatedTable {
  /** A name alone stands for a string. */
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
  /** Its name or URL; it is created if it is not there. */
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
   * Standard queues: the share of receives that leave a message visible, from 0 to 0.9. The same share of
   * deletions leaves a copy, which comes back after the visibility timeout.
   * @default 0
   */
  readonly repeats?: number | undefined;
  /** Standard queues: whether messages come in a random order. @default false */
  readonly shuffles?: boolean | undefined;
}

export interface LambdaOptions {
  /** @default - `function-1`, and so on */
  readonly name?: string | undefined;
  /** At most 5400, which only Managed Instances allow, for the first invocation of an environment including its initialization. @default 30 */
  readonly timeoutSeconds?: number | undefined;
  /** How far the clocks of its environments are ahead, in ms. @default 0 */
  readonly skewMs?: number | undefined;
  /** Like `skewMs`, but in turn for one environment after the other. */
  readonly skewsMs?: readonly number[] | undefined;
  /** How many invocations run at once; more wait. @default - no limit */
  readonly concurrency?: number | undefined;
}

export interface QueueConnection {
  readonly queueUrl: string;
  /** At most 10. @default 10 */
  readonly batchSize?: number | undefined;
  /** Whether the function's answer names the failed messages. AWS's default is false. @default true */
  readonly reportsItemFailures?: boolean | undefined;
  /** How many batches run at once. @default 2 */
  readonly concurrency?: number | undefined;
}

export interface TableConnection {
  readonly tableName: string;
  /** @default 100 */
  readonly batchSize?: number | undefined;
  /**
   * Whether the function's answer names the record at which it stopped. AWS's default is false. @default true
   */
  readonly reportsItemFailures?: boolean | undefined;
  /** Whether a failed batch is split. @default false */
  readonly bisect?: boolean | undefined;
  /** -1 retries until the records are too old. @default -1 */
  readonly maxRetries?: number | undefined;
  /**
   * Patterns like those of `FilterCriteria`: the function gets records that match one of them.
   * @default - all records
   */
  readonly filters?: readonly object[] | undefined;
}
