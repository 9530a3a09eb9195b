// How long after its first delivery a queue may deliver a message again, read from the constructs of the
// queue.
import { Stack, Token } from "aws-cdk-lib";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { type ConsumedQueue, ownerPath, referencedResource } from "./event-sources.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html */
const SQS_DEFAULTS = { visibilityTimeout: 30, messageRetentionPeriod: 345_600 };

/** The longest redelivery, as a number and as its sum; or the part that is not known at synthesis. */
export type Redelivery = { readonly seconds: number; readonly sum: string } | { readonly unknown: string };

/** Visibility timeout × receives + retention of the queue + retention of its dead-letter queue. */
export function redeliveryOf({ path, queue }: ConsumedQueue): Redelivery {
  if (!queue) return { unknown: `the queue that ${path} reads is not made in this app` };
  const { visibilityTimeout, messageRetentionPeriod } = settingsOf(queue);
  const waiting: Term = { factors: [messageRetentionPeriod], text: `${messageRetentionPeriod} s in ${path}` };
  const { redrivePolicy } = queue;
  if (redrivePolicy === undefined) return sumOf([waiting], path);
  const deadLetterQueue = referencedResource(redrivePolicy, queue, CfnQueue);
  if (!deadLetterQueue) return { unknown: `the dead-letter queue of ${path} is not made in this app` };
  const { maxReceiveCount } = Stack.of(queue).resolve(redrivePolicy) as { maxReceiveCount: unknown };
  const inDeadLetters = settingsOf(deadLetterQueue).messageRetentionPeriod;
  const receiving: Term = {
    factors: [visibilityTimeout, Number(maxReceiveCount)],
    text: `visibility timeout ${visibilityTimeout} s × ${String(maxReceiveCount)} receives`,
  };
  const parked: Term = {
    factors: [inDeadLetters],
    text: `${inDeadLetters} s in ${ownerPath(deadLetterQueue)}`,
  };
  return sumOf([receiving, waiting, parked], path);
}

interface Term {
  readonly factors: readonly number[];
  readonly text: string;
}

function sumOf(terms: readonly Term[], path: string): Redelivery {
  // A resolved token is no number any more.
  if (
    terms.flatMap(({ factors }) => factors).some((each) => Number.isNaN(each) || Token.isUnresolved(each))
  ) {
    return { unknown: `a number of ${path} or of its dead-letter queue is known at deployment only` };
  }
  const seconds = terms.reduce((sum, { factors }) => sum + factors.reduce((a, b) => a * b), 0);
  return { seconds, sum: terms.map(({ text }) => text).join(" + ") };
}

/** The queue's own settings; SQS decides on missing ones. */
export function settingsOf({ visibilityTimeout, messageRetentionPeriod }: CfnQueue): typeof SQS_DEFAULTS {
  return {
    visibilityTimeout: visibilityTimeout ?? SQS_DEFAULTS.visibilityTimeout,
    messageRetentionPeriod: messageRetentionPeriod ?? SQS_DEFAULTS.messageRetentionPeriod,
  };
}
