/** GetQueueAttributes: the attributes that were set, and the counts of messages. */
import type { SqsHandler } from "./handler.ts";
import type { Queue } from "./queue.ts";
import { unknownAttribute } from "./queue-attributes.ts";

export const getQueueAttributes: SqsHandler<"GetQueueAttributes"> = (
  service,
  { QueueUrl, AttributeNames = [] },
) => {
  const all = attributesOf(service.queueByUrl(QueueUrl), service.now());
  const asked = AttributeNames.includes("All") ? Object.keys(all) : AttributeNames;
  const entries = asked.filter((name) => isAttribute(name) && all[name] !== undefined);
  if (entries.length === 0) return {};
  return { Attributes: Object.fromEntries(entries.map((name) => [name, all[name] as string])) };
};

function attributesOf(queue: Queue, now: number): Readonly<Record<string, string>> {
  const { visible, delayed, inFlight } = queue.counts(now);
  return {
    ...queue.attributes,
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    CreatedTimestamp: String(Math.floor(queue.createdAt / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.lastModifiedAt / 1000)),
    QueueArn: queue.arn,
  };
}

function isAttribute(name: string): boolean {
  if (KNOWN_NAMES.has(name)) return true;
  throw unknownAttribute(name);
}

const KNOWN_NAMES = new Set([
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
  "ContentBasedDeduplication",
  "CreatedTimestamp",
  "DeduplicationScope",
  "DelaySeconds",
  "FifoQueue",
  "FifoThroughputLimit",
  "KmsDataKeyReusePeriodSeconds",
  "KmsMasterKeyId",
  "LastModifiedTimestamp",
  "MaximumMessageSize",
  "MessageRetentionPeriod",
  "Policy",
  "QueueArn",
  "ReceiveMessageWaitTimeSeconds",
  "RedriveAllowPolicy",
  "RedrivePolicy",
  "SqsManagedSseEnabled",
  "VisibilityTimeout",
]);
