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

/** The names of key and TTL attribute of a table, where they are not the usual ones. */
export interface TableNames {
  readonly partitionKey?: string;
  readonly sortKey?: { readonly name: string; readonly value: string };
  readonly ttlAttribute?: string;
}

/** A table that holds idempotency records. Its `env` is that of the table, also where that is imported. */
export interface IIdempotencyTable extends IResource {
  /** The table itself, for everything that this construct does not wrap. */
  readonly table: ITableV2;

  /** The name of the table. */
  readonly tableName: string;

  /** The ARN of the table. */
  readonly tableArn: string;

  /** Whether operations can commit messages: the table has a stream, and the index of unsent messages. */
  readonly hasOutbox: boolean;

  /** Into how many shards of that index operations divide their commits; 0 without an outbox. */
  readonly outboxShards: number;

  /** Whether held keys and abandoned attempts can be listed: the table has the index of them. */
  readonly listsUnknownOutcomes: boolean;

  /** When a restored table was put to use, if it is one. */
  readonly restoredAt: Date | undefined;

  /** The names that its stores are given, where they are not the usual ones: an `OutboxRelay` takes them. */
  readonly names: TableNames;

  /** Filters for the event source of `outboxRelay`: only changes that leave messages to be sent reach it. */
  readonly outboxFilters: readonly Record<string, unknown>[];

  /** Grants exactly the rights to run operations. */
  grantIdempotency(grantee: IGrantable, options?: RecordAccessOptions): Grant;

  /** Grants the rights of `outboxRelay` on this table. */
  grantRelay(grantee: IGrantable): Grant;

  /** Grants the rights of `outboxSweeper` on this table, whose index of unsent messages has this name, or "outbox". */
  grantSweeper(grantee: IGrantable, indexName?: string): Grant;

  /** Grants the rights to list unknown outcomes, and to resolve them. */
  grantResolving(grantee: IGrantable): Grant;

  /** How many conditional writes were refused: each refused claim is one, and so is each lost race. */
  metricConditionalCheckFailedRequests(options?: MetricOptions): Metric;

  /** How many requests DynamoDB throttled, of the kinds that handlers make. */
  metricThrottledRequests(options?: OperationsMetricOptions): IMetric;

  /** How many requests failed in DynamoDB, of the kinds that handlers make. */
  metricSystemErrors(options?: SystemErrorsForOperationsMetricOptions): IMetric;
}
