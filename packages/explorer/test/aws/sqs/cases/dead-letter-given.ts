/** A queue with its dead-letter queue, and a way to get messages there. */
import { arnOf, receive } from "./case.ts";
import type { SqsSubject } from "./subject.ts";

export interface DeadLetterPair {
  readonly queue: string;
  readonly deadLetters: string;
}

export async function withDeadLetters(
  sqs: SqsSubject,
  create: (sqs: SqsSubject, attributes?: Record<string, string>) => Promise<string>,
  maxReceiveCount: number,
  deadLetterAttributes: Record<string, string> = {},
): Promise<DeadLetterPair> {
  const deadLetters = await create(sqs, deadLetterAttributes);
  const policy = { deadLetterTargetArn: await arnOf(sqs, deadLetters), maxReceiveCount };
  return { queue: await create(sqs, { RedrivePolicy: JSON.stringify(policy) }), deadLetters };
}

/** Receives all that is in the queue, at most 10 messages, until it is in the dead-letter queue. */
export async function poison(sqs: SqsSubject, queue: string): Promise<void> {
  while ((await receive(sqs, queue, { VisibilityTimeout: 0 })).length > 0);
}
