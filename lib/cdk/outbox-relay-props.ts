// The properties of an OutboxRelay.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { ISecurityGroup, IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import type { IRole } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Tracing } from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";
import type { OutboxDestination } from "./outbox-destination.ts";

/** Properties of an {@link OutboxRelay}. */
export interface OutboxRelayProps {
  /** The table whose operations commit messages. It needs `outbox: true`. */
  readonly table: IIdempotencyTable;

  /**
   * The queues, topics and event buses that messages are sent to, at least one; `addDestination` adds more. A list applies
   * to all operations. An object has a list for each operation name, and other operations can't send anywhere. So a role
   * that may only write its own operation's records can't send to another operation's destinations.
   * @default - none yet
   */
  readonly destinations?: OutboxDestination[] | { readonly [operation: string]: OutboxDestination[] };

  /**
   * The schedule group for messages with `deliverAt`, in the Region of the destinations.
   * @default - messages with `deliverAt` aren't sent before they're due: they fail, and are retried until they are
   */
  readonly scheduleGroup?: IScheduleGroup;

  /**
   * A standard queue that gets scheduled messages that couldn't be delivered in 24 hours.
   * @default - such messages are lost
   */
  readonly undeliveredQueue?: IQueue;

  /**
   * The number of shards of the outbox index, 1 to 1000: at least as many as any store of the table has ever had.
   * Raise it here first, then raise `outboxShards` of the table in a later deployment.
   * @default - `outboxShards` of the table
   */
  readonly shards?: number;

  /**
   * The name of the table's partition key, as you pass it to the stores.
   * @default - as the table was imported, or "pk"
   */
  readonly partitionKey?: string;

  /**
   * The name of the table's sort key and the value that every record has there, as you pass them to the stores.
   * @default - as the table was imported, or none
   */
  readonly sortKey?: { readonly name: string; readonly value: string };

  /**
   * The table's TTL attribute, as you pass it to the stores.
   * @default - as the table was imported, or "expiresAt"
   */
  readonly ttlAttribute?: string;

  /**
   * The name of the outbox index, the sparse index of unsent messages.
   * @default "outbox"
   */
  readonly indexName?: string;

  /**
   * The maximum number of table changes that the relay gets in one batch, 1 to 10000.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How many times a failed batch is retried. If the relay gives messages up, the sweeper sends them, but after later
   * messages of their groups.
   * @default - for as long as the stream holds it, so that nothing overtakes it
   */
  readonly retryAttempts?: number;

  /**
   * The maximum age of a change that the relay still processes, 60 seconds to 24 hours.
   * @default - 24 hours, as long as the stream keeps it
   */
  readonly maxRecordAge?: Duration;

  /**
   * A standard queue that gets the stream positions of the batches that the relay gave up.
   * @default - they aren't reported; the sweeper still sends their messages
   */
  readonly onFailureQueue?: IQueue;

  /**
   * How often the sweeper looks for messages that the stream has lost.
   *
   * @default Duration.minutes(1)
   */
  readonly sweepInterval?: Duration;

  /**
   * The timeout of both functions, the relay and the sweeper.
   *
   * @default Duration.seconds(30)
   */
  readonly timeout?: Duration;

  /**
   * The memory of both functions, in MiB.
   *
   * @default 512
   */
  readonly memorySize?: number;

  /**
   * The `service` dimension of their metrics: pass the same to `IdempotencyMonitoring`.
   *
   * @default "onceonly"
   */
  readonly service?: string;

  /**
   * The namespace of their metrics: pass the same to `IdempotencyMonitoring`.
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
   * What happens to their logs when they're removed from the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly logRemovalPolicy?: RemovalPolicy;

  /**
   * A log group that both functions share.
   * @default - each has its own log group
   */
  readonly logGroup?: ILogGroup;

  /**
   * The key that encrypts their own log groups. CloudWatch Logs must be allowed to use it: the construct adds that to the
   * policy of a key of the app, but an imported key's policy must already allow it.
   * @default - CloudWatch Logs encrypts with its own key
   */
  readonly logEncryptionKey?: IKey;

  /**
   * A role that both functions share. The construct adds the permissions to send; you add those to write logs and, in a VPC,
   * to manage network interfaces.
   * @default - each has its own role
   */
  readonly role?: IRole;

  /**
   * The VPC that both functions run in. They must be able to reach DynamoDB and the destinations from it.
   * @default - they don't run in your VPC
   */
  readonly vpc?: IVpc;

  /**
   * The subnets of the VPC that they run in.
   * @default - the private subnets, as Lambda's construct chooses them
   */
  readonly vpcSubnets?: SubnetSelection;

  /**
   * Their security groups in the VPC.
   * @default - each has its own group
   */
  readonly securityGroups?: ISecurityGroup[];

  /**
   * The reserved concurrency of each function. The relay needs one invocation for each shard of the stream, times
   * `parallelizationFactor`.
   * @default - none are reserved
   */
  readonly reservedConcurrentExecutions?: number;

  /**
   * How many batches of one shard the relay gets in parallel, 1 to 10. Above 1, commits of one group can overtake each other.
   * @default - 1, as Lambda has it
   */
  readonly parallelizationFactor?: number;

  /**
   * Whether AWS X-Ray traces them.
   * @default - nothing is traced
   */
  readonly tracing?: Tracing;
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
