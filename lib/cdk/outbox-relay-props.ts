// The properties of an OutboxRelay.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { ISecurityGroup, IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import type { IRole } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Tracing } from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";
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
   * The name of the table's partition key, as the stores of its functions are given it.
   * @default - as the table was imported, or "pk"
   */
  readonly partitionKey?: string;

  /**
   * The name of the table's sort key, and the value that every record has there, as the stores of its functions are given
   * them.
   * @default - as the table was imported, or none
   */
  readonly sortKey?: { readonly name: string; readonly value: string };

  /**
   * The attribute by which the table's TTL deletes, as the stores of its functions are given it.
   * @default - as the table was imported, or "expiresAt"
   */
  readonly ttlAttribute?: string;

  /**
   * The name of the sparse index of unsent messages.
   * @default "outbox"
   */
  readonly indexName?: string;

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

  /**
   * A log group for both.
   * @default - each has a log group of its own
   */
  readonly logGroup?: ILogGroup;

  /**
   * The key that encrypts their own log groups. A key of the app lets CloudWatch Logs use it; the policy of an imported
   * key must do so already.
   * @default - CloudWatch Logs encrypts with a key of its own
   */
  readonly logEncryptionKey?: IKey;

  /**
   * A role for both. It gets the rights to send; give it those to write logs, and in a VPC those to network interfaces.
   * @default - each has a role of its own
   */
  readonly role?: IRole;

  /**
   * The VPC that both run in. They must reach DynamoDB and the destinations from there.
   * @default - they run in no VPC of yours
   */
  readonly vpc?: IVpc;

  /**
   * The subnets of the VPC.
   * @default - the private subnets, as Lambda's construct chooses them
   */
  readonly vpcSubnets?: SubnetSelection;

  /**
   * Their security groups in the VPC.
   * @default - each has a group of its own
   */
  readonly securityGroups?: ISecurityGroup[];

  /**
   * How many invocations are reserved for each of the two. The relay needs one for each shard of the stream, times
   * `parallelizationFactor`.
   * @default - none are reserved
   */
  readonly reservedConcurrentExecutions?: number;

  /**
   * How many batches of one shard the relay gets at once, 1 to 10. Above 1 the commits of a group can overtake each other.
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
