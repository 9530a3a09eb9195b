// A FIFO queue whose producers set deduplication ids, with a FIFO dead-letter queue.
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
 * A FIFO queue with a FIFO dead-letter queue. Throughput and deduplication are per message group. Both queues are encrypted
 * and reject requests without TLS. By default messages with equal bodies aren't duplicates, because both can be intended.
 * Enable `contentBasedDeduplication` only for a queue that an EventBridge rule feeds.
 */
export class DedupQueue extends DedupQueueBase {
  /** The id that property injectors of the app use for this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.DedupQueue";

  /** Whether it's a dedup queue, created or imported, even if another copy of this package made it. */
  static isDedupQueue(construct: unknown): construct is IDedupQueue {
    return isBranded(construct, QUEUE_BRAND);
  }

  /**
   * Imports an existing FIFO queue, for example from another app. Its settings aren't known, so notes list what isn't checked.
   * @param encryptionKey the customer managed key of the queue, if it has one
   * @throws Error for the ARN of a standard queue
   */
  static fromQueueArn(scope: Construct, id: string, queueArn: string, encryptionKey?: IKey): IDedupQueue {
    return DedupQueue.fromQueueAttributes(scope, id, { queueArn, ...(encryptionKey && { encryptionKey }) });
  }

  /**
   * Imports an existing FIFO queue, like `fromQueueArn`, but with the settings that you know.
   * @throws Error for the ARN of a standard queue
   */
  static fromQueueAttributes(scope: Construct, id: string, attributes: DedupQueueAttributes): IDedupQueue {
    return new ImportedQueue(scope, id, attributes);
  }

  /** The underlying queue, for everything that this construct doesn't wrap. */
  readonly queue: Queue;

  /** The queue for messages that were received `maxReceiveCount` times. */
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
      // Otherwise another queue's dead letters could mix with messages that were sent here.
      redriveAllowPolicy: { redrivePermission: RedrivePermission.DENY_ALL },
    });
    this.visibilityTimeout = visibilityTimeout;
    checkFifoQueues(this, [this.queue, this.deadLetterQueue]);
  }

  /** Applies to both queues, unless the app passed its own `deadLetterQueue`. */
  override applyRemovalPolicy(policy: RemovalPolicy): void {
    super.applyRemovalPolicy(policy);
    if (this.deadLetterQueue.node.scope === this) this.deadLetterQueue.applyRemovalPolicy(policy);
  }

  /** How many messages are in the dead-letter queue. */
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
        `${this.node.path} is ${queueArn}, a standard queue, which neither deduplicates nor keeps order: pass the ARN of a FIFO queue (it ends in .fifo)`,
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
 * Lets only the main queue use the dead-letter queue. The main queue needs a name for its ARN, because otherwise the two
 * resources would refer to each other.
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
