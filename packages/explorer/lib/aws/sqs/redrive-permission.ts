/**
 * Whether a queue may be the dead-letter queue of another: checks RedrivePolicy against RedriveAllowPolicy.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue.html
 */
import type { Queue } from "./queue.ts";
import { invalidPolicy, parsePolicy, parseRedrivePolicy } from "./redrive-policy.ts";
import { invalidValue } from "./sqs-error.ts";

const MAX_SOURCE_QUEUES = 10;

/** Throws unless the policy names an existing queue that has the same type and allows `source`. */
export function checkRedrivePolicy(
  text: string,
  source: { readonly arn: string; readonly isFifo: boolean },
  findQueue: (arn: string) => Queue | undefined,
): void {
  const { deadLetterTargetArn } = parseRedrivePolicy(text);
  const target = findQueue(deadLetterTargetArn);
  if (target === undefined || target.arn === source.arn) {
    throw invalidPolicy(text, "Dead letter target does not exist.");
  }
  if (target.isFifo !== source.isFifo) {
    throw invalidPolicy(text, "Dead-letter queue must be same type of queue as the source.");
  }
  if (!allows(target.attributes.RedriveAllowPolicy, source.arn)) {
    throw invalidPolicy(text, "The dead-letter queue's redriveAllowPolicy does not allow this source queue.");
  }
}

export function checkRedriveAllowPolicy(text: string): void {
  const { redrivePermission, sourceQueueArns } = parsePolicy("RedriveAllowPolicy", text);
  const isByQueue = redrivePermission === "byQueue";
  if (!isByQueue && redrivePermission !== "allowAll" && redrivePermission !== "denyAll") {
    throw invalidValue("RedriveAllowPolicy", text, "redrivePermission must be allowAll, denyAll or byQueue.");
  }
  const count = Array.isArray(sourceQueueArns) ? sourceQueueArns.length : 0;
  if (isByQueue ? count < 1 || count > MAX_SOURCE_QUEUES : sourceQueueArns !== undefined) {
    throw invalidValue(
      "RedriveAllowPolicy",
      text,
      `sourceQueueArns must be 1 to ${MAX_SOURCE_QUEUES} ARNs with byQueue, and must not be there otherwise.`,
    );
  }
}

function allows(allowPolicy: string | undefined, sourceArn: string): boolean {
  if (allowPolicy === undefined) return true;
  const { redrivePermission, sourceQueueArns } = parsePolicy("RedriveAllowPolicy", allowPolicy);
  if (redrivePermission !== "byQueue") return redrivePermission === "allowAll";
  return (sourceQueueArns as readonly unknown[]).includes(sourceArn);
}
