// A FIFO queue whose producers give deduplication ids, with a dead-letter queue of the same kind.
import { type Duration, Stack } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { type IQueue, Queue, QueueEncryption, type QueueProps, RedrivePermission } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { checkQueue, checkQueueConsumer } from "./checks/dedup-queue.ts";
import { eventRuleFaults } from "./checks/event-rules.ts";
import {
  CONSUMER_DEFAULTS,
  DEAD_LETTER_RETENTION,
  type DedupQueueConsumerOptions,
  type DedupQueueProps,
  QUEUE_DEFAULTS,
} from "./dedup-queue-props.ts";
import { grantSending } from "./perms.ts";
import { addEventSource, relativePath } from "./stable-ids.ts";
import { withDefaults } from "./with-defaults.ts";

/**
 * A FIFO queue with a FIFO dead-letter queue. Throughput and deduplication are per message group; both queues
 * are encrypted, and closed to requests without TLS. Equal messages are not dropped, because both can be
 * meant; only a queue that an EventBridge rule feeds deduplicates by content.
 */
export class DedupQueue extends Construct {
  /** The queue itself, for everything this construct does not wrap. */
  readonly queue: Queue;

  /** The queue of messages that were received too often. */
  readonly deadLetterQueue: IQueue;

  readonly #visibilityTimeout: Duration;

  constructor(scope: Construct, id: string, props: DedupQueueProps = {}) {
    super(scope, id);
    const settings = withDefaults(props, QUEUE_DEFAULTS);
    checkQueue(this, settings);
    const { visibilityTimeout, retentionPeriod, maxReceiveCount, removalPolicy } = settings;
    const common: QueueProps = {
      fifo: true,
      enforceSSL: true,
      removalPolicy,
      ...(props.encryptionKey
        ? { encryption: QueueEncryption.KMS, encryptionMasterKey: props.encryptionKey }
        : { encryption: QueueEncryption.SQS_MANAGED }),
    };
    this.deadLetterQueue =
      props.deadLetterQueue ??
      new Queue(this, "DeadLetters", {
        ...common,
        retentionPeriod: DEAD_LETTER_RETENTION,
        ...redriveAllowed(this, props.queueName),
      });
    this.queue = new Queue(this, "Default", {
      ...common,
      ...(props.queueName !== undefined && { queueName: props.queueName }),
      contentBasedDeduplication: settings.contentBasedDeduplication,
      deduplicationScope: settings.deduplicationScope,
      fifoThroughputLimit: settings.fifoThroughputLimit,
      visibilityTimeout,
      retentionPeriod,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount },
      // Messages that another queue gave up would mix with messages that were sent here.
      redriveAllowPolicy: { redrivePermission: RedrivePermission.DENY_ALL },
    });
    this.#visibilityTimeout = visibilityTimeout;
    // Rules may be added later.
    this.node.addValidation({
      validate: () => eventRuleFaults(this.queue, settings.contentBasedDeduplication),
    });
  }

  /**
   * Connects a function, or its alias or version, that handles messages with `idempotentBatch`: it reports its unfinished
   * messages, and only those come again. Nothing is known of the timeout of an imported function, which a note says.
   * @throws Error when messages are hidden for less than six times the function's timeout
   */
  addConsumer(fn: IFunction, options: DedupQueueConsumerOptions = {}): SqsEventSource {
    checkQueueConsumer(this, this.#visibilityTimeout, fn);
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

  /** Grants `sqs:SendMessage`, and the use of the queue's customer key if it has one. */
  grantProduce(grantee: IGrantable): Grant {
    return grantSending(grantee, {
      action: "sqs:SendMessage",
      arn: this.queue.queueArn,
      key: this.queue.encryptionMasterKey,
    });
  }

  /**
   * Grants `sqs:ChangeMessageVisibility`, for `changeVisibility` of `idempotentBatch`. A function of `addConsumer` has it
   * already.
   */
  grantChangeVisibility(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ["sqs:ChangeMessageVisibility"],
      resourceArns: [this.queue.queueArn],
    });
  }

  /** How many messages wait to be received. */
  metricApproximateNumberOfMessagesVisible(options?: MetricOptions): Metric {
    return this.queue.metricApproximateNumberOfMessagesVisible(options);
  }

  /** How long the oldest message has waited, in seconds. */
  metricApproximateAgeOfOldestMessage(options?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage(options);
  }

  /** How many messages wait in the dead-letter queue. */
  metricDeadLetters(options?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible(options);
  }
}

/**
 * Only the queue before it may use the dead-letter queue. Its ARN must be known by its name, because
 * otherwise each of the two resources would refer to the other.
 */
function redriveAllowed(
  scope: Construct,
  queueName: string | undefined,
): Pick<QueueProps, "redriveAllowPolicy"> {
  if (queueName === undefined) return {};
  const queueArn = Stack.of(scope).formatArn({ service: "sqs", resource: queueName });
  const source = Queue.fromQueueArn(scope, "Source", queueArn);
  return {
    redriveAllowPolicy: { redrivePermission: RedrivePermission.BY_QUEUE, sourceQueues: [source] },
  };
}
