/**
 * Reads the attribute RedrivePolicy.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
 */
import { invalidValue, type SqsError } from "./sqs-error.ts";

export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  readonly maxReceiveCount: number;
}

const MAX_RECEIVE_COUNT = 1000;

/** SQS's default for a policy without `maxReceiveCount`. */
const DEFAULT_RECEIVE_COUNT = 10;

export function parseRedrivePolicy(text: string): RedrivePolicy {
  const { deadLetterTargetArn, maxReceiveCount = DEFAULT_RECEIVE_COUNT } = parsePolicy("RedrivePolicy", text);
  if (typeof deadLetterTargetArn !== "string" || deadLetterTargetArn === "") {
    throw invalidPolicy(text, "The required parameter 'deadLetterTargetArn' is missing.");
  }
  const count = typeof maxReceiveCount === "string" ? Number(maxReceiveCount) : maxReceiveCount;
  if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > MAX_RECEIVE_COUNT) {
    throw invalidPolicy(
      text,
      `Invalid value for maxReceiveCount: ${maxReceiveCount}, valid values are from 1 to ${MAX_RECEIVE_COUNT} both inclusive.`,
    );
  }
  return { deadLetterTargetArn, maxReceiveCount: count as number };
}

export function parsePolicy(attribute: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw invalidValue(attribute, text, "Redrive policy is not a valid JSON map.");
  }
}

export function invalidPolicy(text: string, reason: string): SqsError {
  return invalidValue("RedrivePolicy", text, reason);
}
