// The interface of every idempotency table, created or imported. Types only.
import type { IResource } from "aws-cdk-lib";
import type { IMetric, Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import type {
  ITableV2,
  OperationsMetricOptions,
  SystemErrorsForOperationsMetricOptions,
} from "aws-cdk-lib/aws-dynamodb";
import type { Grant, IGrantable } from "aws-cdk-lib/aws-iam";
import type { RecordAccessOptions } from "./record-access.ts";

/** The names of a table's key and TTL attributes, if they aren't the defaults. */
export interface TableNames {
  readonly partitionKey?: string;
  readonly sortKey?: { readonly name: string; readonly value: string };
  readonly ttlAttribute?: string;
}

/** A table that holds idempotency records. `env` is the table's, even if the table is imported. */
export interface IIdempotencyTable extends IResource {
  /** The underlying table, for everything that this construct doesn't wrap. */
  readonly table: ITableV2;

  /** The name of the table. */
  readonly tableName: string;

  /** The ARN of the table. */
  readonly tableArn: string;

  /** Whether operations can commit messages: the table has a stream and the outbox index. */
  readonly hasOutbox: boolean;

  /** The number of shards of the outbox index; 0 without an outbox. */
  readonly outboxShards: number;

  /** Whether held keys and abandoned attempts can be listed: the table has an index of them. */
  readonly listsUnknownOutcomes: boolean;

  /** When the table went into use, if it was restored from a backup. */
  readonly restoredAt: Date | undefined;

  /** The attribute names that its stores use, if they aren't the defaults. An `OutboxRelay` uses them too. */
  readonly names: TableNames;

  /** Filters for the event source of `outboxRelay`: it only receives changes that leave messages to send. */
  readonly outboxFilters: readonly Record<string, unknown>[];

  /** Grants exactly the permissions to run operations. */
  grantIdempotency(grantee: IGrantable, options?: RecordAccessOptions): Grant;

  /** Grants the permissions that `outboxRelay` needs on this table. */
  grantRelay(grantee: IGrantable): Grant;

  /** Grants the permissions that `outboxSweeper` needs on this table. `indexName` is the outbox index, "outbox" by default. */
  grantSweeper(grantee: IGrantable, indexName?: string): Grant;

  /** Grants the permissions to list and resolve unknown outcomes. */
  grantResolving(grantee: IGrantable): Grant;

  /** How many conditional writes failed: each refused claim counts, and so does each lost race. */
  metricConditionalCheckFailedRequests(options?: MetricOptions): Metric;

  /** How many requests DynamoDB throttled, for the API operations that handlers use. */
  metricThrottledRequests(options?: OperationsMetricOptions): IMetric;

  /** How many requests failed with a DynamoDB system error, for the API operations that handlers use. */
  metricSystemErrors(options?: SystemErrorsForOperationsMetricOptions): IMetric;
}
