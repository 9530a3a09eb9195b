// Refuses queues that SQS would refuse, and consumers whose messages would come back too early. No I/O.
import { Annotations, type Duration, Token } from "aws-cdk-lib";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { DeduplicationScope, FifoThroughputLimit, type IQueue } from "aws-cdk-lib/aws-sqs";
import type { IConstruct } from "constructs";
import type { DedupQueueProps } from "../dedup-queue-props.ts";
import { note } from "../note.ts";
import { isChecked, knownSeconds, timeoutOf } from "./consumers.ts";

/** AWS's advice for queues that feed functions: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html */
const VISIBILITY_PER_TIMEOUT = 6;

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue.html */
const MAX_RECEIVES = 1000;

/** @throws Error that says which of the properties of a queue exclude each other */
export function checkQueue(queue: IConstruct, props: DedupQueueProps): void {
  const { path } = queue.node;
  const { deduplicationScope, fifoThroughputLimit, deadLetterQueue, maxReceiveCount: receives = 1 } = props;
  if (
    !Token.isUnresolved(receives) &&
    !(Number.isInteger(receives) && receives >= 1 && receives <= MAX_RECEIVES)
  ) {
    throw new Error(
      `maxReceiveCount of ${path} is ${receives}: SQS takes a whole number from 1 to ${MAX_RECEIVES}`,
    );
  }
  if (
    fifoThroughputLimit === FifoThroughputLimit.PER_MESSAGE_GROUP_ID &&
    deduplicationScope !== DeduplicationScope.MESSAGE_GROUP
  ) {
    throw new Error(
      `fifoThroughputLimit of ${path} is ${fifoThroughputLimit} and its deduplicationScope is ${deduplicationScope}: SQS takes it with ${DeduplicationScope.MESSAGE_GROUP} only, so set both or neither`,
    );
  }
  if (deadLetterQueue === undefined || deadLetterQueue.fifo) return;
  if (!isImportedByToken(deadLetterQueue)) {
    throw new Error(
      `deadLetterQueue of ${path} is ${deadLetterQueue.node.path}, a standard queue: a FIFO queue takes a FIFO queue`,
    );
  }
  note(
    queue,
    "onceonly:dead-letters-unknown",
    `whether ${deadLetterQueue.node.path}, the dead-letter queue of ${path}, is a FIFO queue is not checked: its ARN is known at deployment only`,
  );
}

/** CDK takes such a queue for a standard queue. */
function isImportedByToken({ node, queueArn }: IQueue): boolean {
  return node.defaultChild === undefined && Token.isUnresolved(queueArn);
}

/** @throws Error when messages are hidden for less than six times the consumer's timeout */
export function checkQueueConsumer(
  queue: IConstruct,
  visibilityTimeout: Duration | undefined,
  consumer: IFunction,
): void {
  const { path } = queue.node;
  const fn = functionOf(consumer);
  // The mixin may come after the consumer.
  queue.node.addValidation({ validate: () => warnOfUnchecked(queue, fn) });
  const visibility = visibilityTimeout && knownSeconds(visibilityTimeout);
  // An imported function does not tell.
  const timeout = "runtime" in fn ? timeoutOf(fn as LambdaFunction) : undefined;
  if (visibility === undefined || timeout === undefined) {
    note(
      queue,
      "onceonly:visibility-unknown",
      `whether messages are hidden for long enough for ${fn.node.path} is not checked: its timeout, or theirs, is known at deployment only`,
    );
    return;
  }
  const least = VISIBILITY_PER_TIMEOUT * timeout;
  if (visibility >= least) return;
  throw new Error(
    `visibilityTimeout ${visibility} s of ${path} < ${least} s, ${VISIBILITY_PER_TIMEOUT} × timeout ${timeout} s of its consumer ${fn.node.path}: messages would come again while they are handled or wait for a throttled function`,
  );
}

/** The function behind an alias or a version, or behind an alias of a version. */
function functionOf(consumer: IFunction): IFunction {
  const { lambda } = consumer as IFunction & { readonly lambda?: IFunction };
  return lambda ? functionOf(lambda) : consumer;
}

function warnOfUnchecked(queue: IConstruct, fn: IFunction): string[] {
  if (!isChecked(fn)) {
    Annotations.of(queue).addWarningV2(
      "onceonly:consumer-unchecked",
      `${fn.node.path} consumes ${queue.node.path} without UseIdempotency, so that nothing is known of its retention: whether it outlasts the longest redelivery is not checked`,
    );
  }
  return [];
}
