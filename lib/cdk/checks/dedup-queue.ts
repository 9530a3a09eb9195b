// Rejects queues that SQS would reject, and consumers whose messages would be redelivered too early. No I/O.
import { Annotations, type Duration, Token } from "aws-cdk-lib";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { DeduplicationScope, FifoThroughputLimit, type IQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import type { DedupQueueProps } from "../dedup-queue-props.ts";
import { note } from "../note.ts";
import { isChecked, knownSeconds, timeoutOf } from "./consumers.ts";
import { isDispatcher } from "./dispatchers.ts";

/** AWS's advice for queues that feed functions: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html */
const VISIBILITY_PER_TIMEOUT = 6;

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue.html */
const MAX_RECEIVES = 1000;

/** @throws Error if properties of a queue can't be combined */
export function checkQueue(queue: IConstruct, props: DedupQueueProps): void {
  const { path } = queue.node;
  const { deduplicationScope, fifoThroughputLimit, deadLetterQueue, maxReceiveCount: receives = 1 } = props;
  if (
    !Token.isUnresolved(receives) &&
    !(Number.isInteger(receives) && receives >= 1 && receives <= MAX_RECEIVES)
  ) {
    throw new Error(
      `maxReceiveCount of ${path} is ${receives}: SQS requires a whole number from 1 to ${MAX_RECEIVES}`,
    );
  }
  if (
    fifoThroughputLimit === FifoThroughputLimit.PER_MESSAGE_GROUP_ID &&
    deduplicationScope !== DeduplicationScope.MESSAGE_GROUP
  ) {
    throw new Error(
      `fifoThroughputLimit of ${path} is ${fifoThroughputLimit}, but its deduplicationScope is ${deduplicationScope}: SQS accepts that limit only with ${DeduplicationScope.MESSAGE_GROUP}, so set both or neither`,
    );
  }
  if (deadLetterQueue === undefined || deadLetterQueue.fifo) return;
  if (!isImportedByToken(deadLetterQueue)) {
    throw new Error(
      `deadLetterQueue of ${path} is ${deadLetterQueue.node.path}, a standard queue: the dead-letter queue of a FIFO queue must be FIFO too`,
    );
  }
  note(
    queue,
    "onceonly:dead-letters-unknown",
    `can't check whether ${deadLetterQueue.node.path}, the dead-letter queue of ${path}, is a FIFO queue: its ARN is only known at deployment`,
  );
}

/** CDK treats such a queue as a standard queue. */
function isImportedByToken({ node, queueArn }: IQueue): boolean {
  return node.defaultChild === undefined && Token.isUnresolved(queueArn);
}

/** @throws Error if the visibility timeout is less than six times the consumer's timeout */
export function checkQueueConsumer(
  queue: IConstruct,
  visibilityTimeout: Duration | undefined,
  consumer: IFunction,
): void {
  const { path } = queue.node;
  const fn = functionOf(consumer);
  // The mixin may be applied after the consumer is added.
  queue.node.addValidation({ validate: () => warnOfUnchecked(queue, fn) });
  const visibility = visibilityTimeout && knownSeconds(visibilityTimeout);
  // An imported function's timeout isn't known.
  const timeout = "runtime" in fn ? timeoutOf(fn as LambdaFunction) : undefined;
  if (visibility === undefined || timeout === undefined) {
    note(
      queue,
      "onceonly:visibility-unknown",
      `can't check whether ${fn.node.path} has time to finish before its messages become visible again: its timeout or the queue's visibility timeout is only known at deployment`,
    );
    return;
  }
  const least = VISIBILITY_PER_TIMEOUT * timeout;
  if (visibility >= least) return;
  throw new Error(
    `visibilityTimeout ${visibility} s of ${path} < ${least} s, ${VISIBILITY_PER_TIMEOUT} × timeout ${timeout} s of its consumer ${fn.node.path}: messages would be delivered again while they're being handled or waiting for a throttled function. Make it at least ${least} s`,
  );
}

/** The function of an alias or a version, or of an alias of a version. */
function functionOf(consumer: IFunction): IFunction {
  const { lambda } = consumer as IFunction & { readonly lambda?: IFunction };
  return lambda ? functionOf(lambda) : consumer;
}

function warnOfUnchecked(queue: IConstruct, fn: IFunction): string[] {
  if (!isChecked(fn) && !isDispatcher(fn)) {
    Annotations.of(queue).addWarningV2(
      "onceonly:consumer-unchecked",
      `${fn.node.path} consumes ${queue.node.path} without UseIdempotency or UseStartOnce, so its retention is unknown and can't be compared with the longest redelivery. Apply one of them to it, or acknowledge this`,
    );
  }
  return [];
}
