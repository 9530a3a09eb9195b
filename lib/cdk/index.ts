import "./installed.ts";

export { type CommitAction, CommitGrants } from "./commit-grants.ts";
export { DedupQueue } from "./dedup-queue.ts";
export type { IDedupQueue } from "./dedup-queue-base.ts";
export type {
  DedupQueueAttributes,
  DedupQueueConsumerOptions,
  DedupQueueProps,
} from "./dedup-queue-props.ts";
export { IdempotencyTable } from "./idempotency-table.ts";
export type { IIdempotencyTable, TableNames } from "./idempotency-table-interface.ts";
export type { IdempotencyTableAttributes, IdempotencyTableProps } from "./idempotency-table-props.ts";
export { IdempotentFunction } from "./idempotent-function.ts";
export type { IdempotentFunctionProps } from "./idempotent-function-props.ts";
export type { AlarmPreset } from "./monitoring/alarms.ts";
export { IdempotencyMonitoring } from "./monitoring/idempotency-monitoring.ts";
export type { IdempotencyMetricOptions } from "./monitoring/metrics.ts";
export type { IdempotencyMonitoringProps } from "./monitoring/props.ts";
export type {
  AlarmActions,
  AlarmSeverity,
  AlarmThreshold,
  AlarmThresholds,
  IdempotencyAlarmProps,
} from "./monitoring/thresholds.ts";
export type { OutboxDestination } from "./outbox-destination.ts";
export { OutboxRelay } from "./outbox-relay.ts";
export type { OutboxRelayProps } from "./outbox-relay-props.ts";
export { Reconciler } from "./reconciler.ts";
export type { ReconcilerProps } from "./reconciler-props.ts";
export type { RecordAccessOptions } from "./record-access.ts";
export { ResultBucket, type ResultBucketProps } from "./result-bucket.ts";
export { UseIdempotency } from "./use-idempotency.ts";
export type { UseIdempotencyOptions } from "./use-idempotency-options.ts";
export { UseStartOnce, type UseStartOnceOptions } from "./use-start-once.ts";
