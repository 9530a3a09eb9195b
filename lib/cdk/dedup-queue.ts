// A FIFO queue whose producers give deduplication ids, with a dead-letter queue of the same kind.
import { type Duration, type RemovalPolicy, Stack, Token } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { type IQueue, Queue, QueueEncryption, type QueueProps, RedrivePermission } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { isBranded } from "./brand.ts";
import { checkQueue } from "./checks/dedup-queue.ts";
import { expectKey } from "./checks/encryption-keys.ts";
import { checkFifoQueues, importedFifoFaults } from "./checks/fifo-queues.ts";
import { walkOnce } from "./checks/resources.ts";
import { DedupQueueBase, type IDedupQueue, QUEUE_BRAND } from "./dedup-queue-base.ts";
import {
  DEAD_LETTER_RETENTION,
  type DedupQueueAttributes,
  type DedupQueueProps,
  QUEUE_DEFAULTS,
} from "./dedup-queue-props.ts";
import { injected } from "./injected.ts";
import { withDefaults } from "./with-defaults.ts";

/**
 * A FIFO queue with a FIFO dead-letter queue. Throughput and deduplication are per message group; both queues
 * are encrypted, and closed to requests without TLS. Equal messages are not dropped, because both can be
 * meant; only a queue that an EventBridge rule feeds deduplicates by content.
 */
export class DedupQueue extends DedupQueueBase {
  /** The id by which property injectors of the app find this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.DedupQueue";

  /** Whether it's a dedup queue: created or imported, also one of another copy of this package. */
  static isDedupQueue(construct: unknown): construct is IDedupQueue {
    return isBranded(construct, QUEUE_BRAND);
  }

  /**
   * Uses a FIFO queue that exists already, of another app for example. Its settings are not known: notes say what is not checked.
   * @param encryptionKey the customer managed key of the queue, if it has one
   * @throws Error for the ARN of a standard queue
   */
  static fromQueueArn(scope: Construct, id: string, queueArn: string, encryptionKey?: IKey): IDedupQueue {
    return DedupQueue.fromQueueAttributes(scope, id, { queueArn, ...(encryptionKey && { encryptionKey }) });
  }

  /**
   * Uses a FIFO queue that exists already, as `fromQueueArn` does, with what you know about it.
   * @throws Error for the ARN of a standard queue
   */
  static fromQueueAttributes(scope: Construct, id: string, attributes: DedupQueueAttributes): IDedupQueue {
    return new ImportedQueue(scope, id, attributes);
  }

  /** The queue itself, for everything this construct does not wrap. */
  readonly queue: Queue;

  /** The queue of messages that were received too often. */
  readonly deadLetterQueue: IQueue;

  protected readonly visibilityTimeout: Duration;

  constructor(scope: Construct, id: string, props: DedupQueueProps = {}) {
    super(scope, id);
    props = injected(DedupQueue.PROPERTY_INJECTION_ID, scope, id, props);
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
    this.visibilityTimeout = visibilityTimeout;
    checkFifoQueues(this, [this.queue, this.deadLetterQueue]);
  }

  /** It is for both queues, unless the dead-letter queue was given. */
  override applyRemovalPolicy(policy: RemovalPolicy): void {
    super.applyRemovalPolicy(policy);
    if (this.deadLetterQueue.node.scope === this) this.deadLetterQueue.applyRemovalPolicy(policy);
  }

  /** How many messages wait in the dead-letter queue. */
  metricDeadLetters(options?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible(options);
  }
}

class ImportedQueue extends DedupQueueBase {
  readonly queue: IQueue;
  protected readonly visibilityTimeout: Duration | undefined;

  constructor(scope: Construct, id: string, attributes: DedupQueueAttributes) {
    const { queueArn, queueUrl, encryptionKey, visibilityTimeout } = attributes;
    super(scope, id, { environmentFromArn: queueArn });
    this.visibilityTimeout = visibilityTimeout;
    if (!Token.isUnresolved(queueArn) && !queueArn.endsWith(".fifo")) {
      throw new Error(
        `${this.node.path} is ${queueArn}, a standard queue, which neither deduplicates nor keeps an order: give the ARN of a FIFO queue, which ends in .fifo`,
      );
    }
    this.queue = Queue.fromQueueAttributes(this, "Default", {
      queueArn,
      fifo: true,
      ...(queueUrl !== undefined && { queueUrl }),
      ...(encryptionKey && { keyArn: encryptionKey.keyArn }),
    });
    walkOnce(this);
    expectKey(this, this.queue, this.queue.queueArn, encryptionKey);
    this.node.addValidation({ validate: () => importedFifoFaults(this.queue) });
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
