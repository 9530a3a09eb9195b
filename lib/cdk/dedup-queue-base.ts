// The consumers, grants and metrics of every DedupQueue, created or imported.
import { type Duration, type IResource, type RemovalPolicy, Resource } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { brand } from "./brand.ts";
import { checkQueueConsumer } from "./checks/dedup-queue.ts";
import { CONSUMER_DEFAULTS, type DedupQueueConsumerOptions } from "./dedup-queue-props.ts";
import { grantSending } from "./perms.ts";
import { addEventSource, relativePath } from "./stable-ids.ts";
import { withDefaults } from "./with-defaults.ts";

/** A FIFO queue whose producers set deduplication ids. */
export interface IDedupQueue extends IResource {
  /** The underlying queue, for everything that this construct doesn't wrap. */
  readonly queue: IQueue;

  /** The URL of the queue, for sending messages. */
  readonly queueUrl: string;

  /** The ARN of the queue. */
  readonly queueArn: string;

  /** Adds a consumer: a function, alias or version that handles messages with `idempotentBatch`. */
  addConsumer(fn: IFunction, options?: DedupQueueConsumerOptions): SqsEventSource;

  /** Grants `sqs:SendMessage`, and the use of the queue's customer managed key if it has one. */
  grantProduce(grantee: IGrantable): Grant;

  /** Grants `sqs:ChangeMessageVisibility`. */
  grantChangeVisibility(grantee: IGrantable): Grant;

  /** How many messages are waiting to be received. */
  metricApproximateNumberOfMessagesVisible(options?: MetricOptions): Metric;

  /** How long the oldest message has waited, in seconds. */
  metricApproximateAgeOfOldestMessage(options?: MetricOptions): Metric;
}

export const QUEUE_BRAND = Symbol.for("onceonly.DedupQueue");

export abstract class DedupQueueBase extends Resource implements IDedupQueue {
  abstract readonly queue: IQueue;

  /** `undefined` if it isn't known. */
  protected abstract readonly visibilityTimeout: Duration | undefined;

  constructor(...args: ConstructorParameters<typeof Resource>) {
    super(...args);
    brand(this, QUEUE_BRAND);
  }

  get queueUrl(): string {
    return this.queue.queueUrl;
  }

  get queueArn(): string {
    return this.queue.queueArn;
  }

  override applyRemovalPolicy(policy: RemovalPolicy): void {
    this.queue.applyRemovalPolicy(policy);
  }

  /**
   * Adds a consumer: a function, alias or version that handles messages with `idempotentBatch`. It reports the messages that
   * it didn't finish, and only those are redelivered. The timeout of an imported function and the visibility timeout of an
   * imported queue aren't known, so a note says that they weren't checked.
   * @throws Error if the visibility timeout is less than six times the function's timeout
   */
  addConsumer(fn: IFunction, options: DedupQueueConsumerOptions = {}): SqsEventSource {
    checkQueueConsumer(this, this.visibilityTimeout, fn);
    const { batchSize, enabled } = withDefaults(options, CONSUMER_DEFAULTS);
    const source = new SqsEventSource(this.queue, {
      batchSize,
      enabled,
      reportBatchItemFailures: true,
      ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
    });
    addEventSource(fn, `Consumer:${relativePath(fn, this.queue)}`, source);
    return source;
  }

  /** Grants `sqs:SendMessage`, and the use of the queue's customer managed key if it has one. */
  grantProduce(grantee: IGrantable): Grant {
    return grantSending(grantee, {
      action: "sqs:SendMessage",
      arn: this.queue.queueArn,
      key: this.queue.encryptionMasterKey,
    });
  }

  /**
   * Grants `sqs:ChangeMessageVisibility`, for `changeVisibility` of `idempotentBatch`. Functions passed to `addConsumer`
   * already have it.
   */
  grantChangeVisibility(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ["sqs:ChangeMessageVisibility"],
      resourceArns: [this.queue.queueArn],
    });
  }

  /** How many messages are waiting to be received. */
  metricApproximateNumberOfMessagesVisible(options?: MetricOptions): Metric {
    return this.queue.metricApproximateNumberOfMessagesVisible(options);
  }

  /** How long the oldest message has waited, in seconds. */
  metricApproximateAgeOfOldestMessage(options?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage(options);
  }
}
