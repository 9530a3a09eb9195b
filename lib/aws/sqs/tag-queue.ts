/** Tags: the queue keeps and returns them, and uses them for nothing. */
import type { SqsHandler } from "./handler.ts";

export const listQueueTags: SqsHandler<"ListQueueTags"> = (service, { QueueUrl }) => {
  const { tags } = service.queueByUrl(QueueUrl);
  return tags.size === 0 ? {} : { Tags: Object.fromEntries(tags) };
};

export const tagQueue: SqsHandler<"TagQueue"> = (service, { QueueUrl, Tags }) => {
  const { tags } = service.queueByUrl(QueueUrl);
  for (const [key, value] of Object.entries(Tags)) tags.set(key, value);
  return {};
};

export const untagQueue: SqsHandler<"UntagQueue"> = (service, { QueueUrl, TagKeys }) => {
  const { tags } = service.queueByUrl(QueueUrl);
  for (const key of TagKeys) tags.delete(key);
  return {};
};
