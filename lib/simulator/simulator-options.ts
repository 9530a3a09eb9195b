/** What a simulation is made of: its seed, and the tables, queues and functions in it. */
import type { Quotas } from "./quotas.ts";

export interface SimulatorOptions {
  /**
   * Decides all that is left to chance: latencies, ids, jitter. The same seed gives the same run.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * In epoch ms.
   * @default 1700000000000
   */
  readonly startAt?: number | undefined;
  /**
   * How long after its expiry an item is deleted, in seconds.
   * @default - never, but by `dynamodb.sweep`
   */
  readonly ttlLagSeconds?: number | undefined;
  /**
   * How long a request of a function takes with its answer, in ms, by the name of a service (`sqs`) or of a target (a
   * queue's name, a table's): a number, or the least and the most.
   * @default - a few ms for AWS, up to 60 over HTTP
   */
  readonly latencyMs?: Readonly<Record<string, number | readonly [least: number, most: number]>> | undefined;
  /**
   * How much AWS takes at once.
   * @default - as AWS has it
   */
  readonly quotas?: Quotas | undefined;
  /**
   * How many days a run may take, of its own time: one that goes on for ever fails instead.
   * @default 30
   */
  readonly maxDays?: number | undefined;
}

export interface KeyAttribute {
  readonly name: string;
  readonly type: "S" | "N" | "B";
}

export interface SimulatedIndex {
  /** A name is a string's. */
  readonly partitionKey: string | KeyAttribute;
  readonly sortKey?: string | KeyAttribute | undefined;
  /** @default "ALL" */
  readonly projection?: "ALL" | "KEYS_ONLY" | readonly string[] | undefined;
}

export interface SimulatedTable {
  /** A name is a string's. */
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
   * Standard queues: the part of receives that leave a message to be received again at once, and of deletions that leave
   * a copy, which comes after the visibility timeout; from 0 to 0.9.
   * @default 0
   */
  readonly repeats?: number | undefined;
  /** Standard queues: hands messages out in any order. @default false */
  readonly shuffles?: boolean | undefined;
}

export interface LambdaOptions {
  /** @default - `function-1`, and so on */
  readonly name?: string | undefined;
  /** Up to 900, the first invocation of an environment with its initialization. @default 30 */
  readonly timeoutSeconds?: number | undefined;
  /** How far the clocks of its environments are ahead. @default 0 */
  readonly skewMs?: number | undefined;
  /** As `skewMs`, of one environment after the other, beginning again after the last. */
  readonly skewsMs?: readonly number[] | undefined;
  /** How many invocations there may be at once; more wait their turn. @default - as many as are asked for */
  readonly concurrency?: number | undefined;
}

export interface QueueConnection {
  readonly queueUrl: string;
  /** Up to 10. @default 10 */
  readonly batchSize?: number | undefined;
  /** Whether the function answers which messages failed. AWS has it switched off by default. @default true */
  readonly reportsItemFailures?: boolean | undefined;
  /** How many batches at once. @default 2 */
  readonly concurrency?: number | undefined;
}

export interface TableConnection {
  readonly tableName: string;
  /** @default 100 */
  readonly batchSize?: number | undefined;
  /** Whether the function answers where in the batch it stopped. AWS has it switched off by default. @default true */
  readonly reportsItemFailures?: boolean | undefined;
  /** Whether a batch that fails is split. @default false */
  readonly bisect?: boolean | undefined;
  /** -1 goes on until the records are too old. @default -1 */
  readonly maxRetries?: number | undefined;
  /**
   * Patterns, as `FilterCriteria` has them: the function gets records that match one of them.
   * @default - all records
   */
  readonly filters?: readonly object[] | undefined;
}
